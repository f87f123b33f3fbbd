// case_traces FOLDER: the trace of every case of the gradient-check tables, as the data of a page, for traces_test.mjs.
#include <retrace/core/trace_json.h>
#include <retrace/models/checks/module_cases.h>
#include <retrace/models/networks/sequence_model.h>
#include <retrace/ops/checks/op_checks.h>
#include <retrace/ops/ops.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <fstream>
#include <functional>
#include <iostream>
#include <string>

#include "fused_cases.h"

namespace retrace {
namespace {

struct Setting {
  std::string name;
  Dtype dtype = f64;
  bool expand_fused = false;
  bool not_finite = false;  // the first cotangents are infinite and NaN
};

/// The leaf of a case in the dtype of the setting. A case that holds its inputs has no others.
Tensor leaf_of(const Tensor& input, const CheckCase& one, const Setting& setting) {
  if (input.dtype() == i64) return input;
  const Tensor leaf = one.holds_inputs ? input : input.clone().to(setting.dtype).detach();
  return leaf.watch();
}

Tensor cotangent_of(const Tensor& output, Random& random, const Setting& setting) {
  const Tensor cotangent = random.normal(output.shape(), f64).to(output.dtype());
  if (!setting.not_finite) return cotangent;
  const std::int64_t count = std::min<std::int64_t>(2, output.numel());
  const double numbers[] = {INFINITY, NAN};
  dispatch_real(output.dtype(), "case_traces", [&](auto zero) {
    using T = decltype(zero);
    for (std::int64_t k = 0; k < count; ++k)
      cotangent.mutable_values<T>()[static_cast<std::size_t>(k)] = static_cast<T>(numbers[k]);
  });
  return cotangent;
}

Trace trace_of(const CheckCase& one, const Setting& setting, const std::string& title) {
  const DtypeScope scope(setting.dtype);
  Tensors leaves;
  for (const Tensor& input : one.inputs) leaves.push_back(leaf_of(input, one, setting));
  Tape tape({.keep = true, .expand_fused = setting.expand_fused});
  Random random(3);
  Tensors outputs, cotangents;
  for (const Tensor& output : one.function(leaves)) {
    if (!output.wants_gradient()) continue;
    outputs.push_back(output);
    cotangents.push_back(cotangent_of(output, random, setting));
  }
  return trace_backward(tape, outputs, cotangents, {.title = title});
}

void write_traces(const CheckedName& checked, const Setting& setting, const std::string& folder) {
  for (std::size_t k = 0; k < checked.cases.size(); ++k) {
    const std::string title = text(checked.name, " ", k, " ", setting.name);
    std::ofstream(text(folder, "/", checked.name, ".", k, ".", setting.name, ".json"))
        << page_data(trace_of(checked.cases[k], setting, title));
  }
}

CheckCase edge(const std::function<Tensor(const Tensors&)>& f, const Tensors& inputs) {
  return {[f](const Tensors& in) { return Tensors{f(in)}; }, inputs};
}

/// Where the tables do not go: kinks, ties, the edges of domains, eight axes, and nothing.
CheckedName edges() {
  const Tensor zeros_and_ones = tensor({0.0, 1.0, 0.0, -1.0}, f64),
               ties = tensor({{2.0, 1.0, 2.0}, {0.0, 0.0, 0.0}}, f64);
  const Tensor with_infinity = tensor({{-INFINITY, -INFINITY}, {-INFINITY, 1.0}}, f64);
  const Tensor eight = Random(5).normal({1, 2, 1, 2, 1, 2, 1, 3}, f64), nothing = zeros({2, 0, 3}, f64);
  const auto unary = [](Tensor (*op)(const Tensor&), const Tensor& x) {
    return edge([op](const Tensors& in) { return op(in[0]); }, {x});
  };
  const auto along = [](Tensor (*op)(const Tensor&, const Axes&, ReduceOptions), const Tensor& x, const Axes& axes) {
    return edge([=](const Tensors& in) { return op(in[0], axes, {}); }, {x});
  };
  return {
      "edges",
      false,
      {unary(relu, zeros_and_ones),
       unary(abs, zeros_and_ones),
       unary(sqrt, zeros_and_ones),
       unary(log, zeros_and_ones),
       unary(reciprocal, zeros_and_ones),
       unary(sigmoid, scale(zeros_and_ones, 50)),
       unary(gelu, scale(zeros_and_ones, 40)),
       unary(softplus, scale(zeros_and_ones, 800)),
       unary(tanh, scale(zeros_and_ones, 30)),
       unary(exp, scale(zeros_and_ones, 800)),
       edge([](const Tensors& in) { return leaky_relu(in[0], 0.1); }, {zeros_and_ones}),
       edge([](const Tensors& in) { return elu(in[0], 0.1); }, {zeros_and_ones}),
       unary(selu, scale(zeros_and_ones, 800)),
       unary(mish, scale(zeros_and_ones, 800)),
       unary(swiglu, scale(zeros_and_ones, 800)),
       edge([](const Tensors& in) { return clip(in[0], 0.1, 2); }, {tensor({-1.0, 0.1, 0.5, 2.0}, f64)}),
       edge([](const Tensors& in) { return pow(in[0], 0); }, {zeros_and_ones}),
       edge([](const Tensors& in) { return pow(in[0], 1); }, {zeros_and_ones}),
       edge([](const Tensors& in) { return pow(in[0], in[1]); }, {zeros_and_ones, tensor({0.0, 0.0, 2.0, 0.0}, f64)}),
       edge([](const Tensors& in) { return maximum(in[0], in[1]); }, {ties, tensor({2.0, 0.0, 3.0}, f64)}),
       edge([](const Tensors& in) { return minimum(in[0], in[1]); }, {ties, tensor({2.0, 0.0, 3.0}, f64)}),
       along(max, ties, {}),
       along(max, ties, 1),
       along(min, ties, 0),
       along(norm, ties, 1),
       along(std, full({2, 4}, 0.5, f64), 1),
       along(std, ties, 1),
       along(prod, ties, 1),
       along(logsumexp, with_infinity, 1),
       along(max, with_infinity, 1),
       along(sum, eight, {1, 7}),
       along(var, eight, {0, 3, 5}),
       along(prod, eight, {1, 5}),
       along(sum, nothing, 1),
       along(mean, nothing, 1),
       along(prod, nothing, {0, 2}),
       along(logsumexp, nothing, 1),
       along(norm, nothing, {}),
       along(std, nothing, 1),
       edge(
           [](const Tensors& in) {
             return transpose(in[0], {7, 6, 5, 4, 3, 2, 1, 0}) * in[0];
           },
           {Random(6).normal({3, 1, 2, 2, 2, 2, 1, 3}, f64)}),
       edge(
           [](const Tensors& in) {
             return slice(transpose(in[0]), {all, range(5, 0, -3)});
           },
           {nothing}),
       edge(
           [](const Tensors& in) {
             return concat({flip(in[0], 1), in[0], pad(in[0], {{0, 0}, {1, 0}, {0, 0}})}, 1);
           },
           {nothing}),
       edge([](const Tensors& in) { return in[0] + in[1]; }, {nothing, zeros({3}, f64)}),
       edge(
           [](const Tensors& in) {
             return broadcast_to(in[0], {3, 2, 2, 2, 1, 2, 4, 3});
           },
           {eight})}};
}

/// Products of vectors, of nothing and with every activation.
CheckedName edges_of_products() {
  Random random(7);
  const auto normal = [&](const Shape& shape) { return random.normal(shape, f64); };
  const auto product = [](MatmulOptions options, const Tensor& a, const Tensor& b) {
    return edge([=](const Tensors& in) { return matmul(in[0], in[1], options); }, {a, b});
  };
  CheckedName result{"edges_of_products",
                     false,
                     {product({}, normal({3}), normal({2, 3, 4})), product({}, normal({2, 1, 4, 3}), normal({3})),
                      product({}, normal({3}), normal({3})), product({}, normal({2, 0}), normal({0, 3})),
                      product({true, true}, normal({5, 3, 2}), normal({2, 1, 4, 3})),
                      product({true, false}, normal({3, 2}), normal({4, 3, 5})),
                      edge([](const Tensors& in) { return matmul(in[0], in[0]); }, {normal({2, 3, 3})}),
                      edge([](const Tensors& in) { return outer(in[0], in[0]); }, {normal({3})})}};
  for (const Activation activation : {Activation::none, Activation::relu, Activation::tanh, Activation::sigmoid,
                                      Activation::gelu, Activation::gelu_tanh}) {
    const auto f = [=](const Tensors& in) {
      return linear(in[0], in[1], in.size() > 2 ? in[2] : Tensor(), activation);
    };
    result.cases.push_back(edge(f, {normal({2, 3, 4}), scale(normal({5, 4}), 10), normal({5})}));
    result.cases.push_back(edge(f, {normal({4}), zeros({3, 4}, f64)}));
  }
  return result;
}

/// Rows that are masked or constant, norms with some of their operands, and gamma that hides what was normalised.
CheckedName edges_of_rows() {
  const Tensor masked = tensor({{-INFINITY, -INFINITY, -INFINITY}, {1.0, -INFINITY, 700.0}}, f64);
  const Tensor x = Random(8).normal({3, 4}, f64), same = full({3, 4}, 0.1, f64);
  const Tensor some_zeros = tensor({0.0, 2.0, 0.0, -1.0}, f64);
  const auto norm_of = [](bool has_gamma, bool has_beta, LayerNormOptions options = {}) {
    return [=](const Tensors& in) {
      return layer_norm(in[0], has_gamma ? in[1] : Tensor(), has_beta ? in.back() : Tensor(), options);
    };
  };
  return {
      "edges_of_rows",
      false,
      {edge([](const Tensors& in) { return softmax(in[0]); }, {masked}),
       edge([](const Tensors& in) { return softmax(in[0], 0); }, {masked}),
       edge([](const Tensors& in) { return log_softmax(in[0]); }, {masked}),
       edge([](const Tensors& in) { return log_softmax(in[0], 0); }, {x}), edge(norm_of(true, false), {x, some_zeros}),
       edge(norm_of(false, true), {x, some_zeros}), edge(norm_of(true, true), {same, some_zeros, some_zeros}),
       edge(norm_of(true, true), {x + 1000.0, some_zeros, some_zeros}),
       edge(norm_of(false, false, {.axes = 2, .eps = 0.5}), {x}),
       edge([](const Tensors& in) { return residual_layer_norm(in[0], in[0], {}, in[1]); }, {x, some_zeros}),
       edge([](const Tensors& in) { return rms_norm(in[0], in[1]); }, {zeros({3, 4}, f64), some_zeros}),
       edge([](const Tensors& in) { return rms_norm(in[0], {}, 0); }, {x})}};
}

/// Ids that repeat or drop an axis, losses of labels that all are ignored, and of nothing.
CheckedName edges_of_losses_and_ids() {
  const Tensor x = Random(9).normal({3, 4}, f64), labels = indices({2, -1, 0}), ignored = indices({-1, -1, -1});
  const Tensor certain = tensor({{0.0, -INFINITY, 0.0, 900.0}, {1.0, 2.0, -INFINITY, 0.0}, {0.0, 0.0, 0.0, 0.0}}, f64);
  const Tensor targets = tensor({{0.5, 0.0, 0.0, 0.5}, {1.0, 1.0, 0.0, 0.0}, {0.0, 0.0, 0.0, 0.0}}, f64);
  const auto dropped = [](double probability) {
    return [=](const Tensors& in) {
      Random random(4);
      return dropout(in[0], probability, &random);
    };
  };
  CheckedName result{
      "edges_of_losses_and_ids",
      false,
      {edge([](const Tensors& in) { return take(in[0], in[1], -1); }, {x, full({}, 3, i64)}),
       edge([](const Tensors& in) { return take(in[0], in[1], 0); }, {x, indices({2, 2, 0, 2})}),
       edge([](const Tensors& in) { return gather(in[0], in[1], 0); }, {x, zeros({2, 4}, i64)}),
       edge([](const Tensors& in) { return embedding(in[0], in[1]); }, {x, zeros({2, 0}, i64)}),
       edge([](const Tensors& in) { return scatter_add(in[0], in[1], in[0]); }, {x, indices({1, 1, 1})}),
       edge(dropped(0), {x}), edge(dropped(1), {x}), edge(dropped(0.5), {x}),
       edge([](const Tensors& in) { return mse(in[0], in[0] * 2.0); }, {zeros({0, 3}, f64)}),
       edge([](const Tensors& in) { return smooth_l1(in[0], in[1], 0); }, {x, x.clone()}),
       edge([](const Tensors& in) { return smooth_l1(in[0], in[1], 1); }, {targets, zeros({3, 4}, f64)}),
       edge([](const Tensors& in) { return kl_divergence(in[0], in[1]); }, {certain, targets}),
       edge([](const Tensors& in) { return kl_divergence(in[0], in[1], {.log_target = true}); }, {x, certain}),
       edge([](const Tensors& in) { return kl_divergence(in[0], in[1]); }, {zeros({0, 3}, f64), zeros({0, 3}, f64)}),
       edge([](const Tensors& in) { return cross_entropy(in[0], in[1]); }, {certain, targets}),
       edge([](const Tensors& in) { return cross_entropy(in[0], in[1]); }, {certain, indices({3, 1, 0})})}};
  for (const Reduction reduction : {Reduction::mean, Reduction::sum, Reduction::none})
    for (const Tensor& t : {labels, ignored}) {
      const CrossEntropyOptions options{reduction, -1};
      result.cases.push_back(edge([=](const Tensors& in) { return cross_entropy(in[0], in[1], options); }, {x, t}));
      result.cases.push_back(edge([=](const Tensors& in) { return nll(in[0], in[1], options); }, {x, t}));
    }
  return result;
}

void write_all(const std::string& folder) {
  for (const Setting& setting : {Setting{"f64"}, Setting{"f32", f32}})
    for (const CheckedName& checked : {edges(), edges_of_products(), edges_of_rows(), edges_of_losses_and_ids()})
      write_traces(checked, setting, folder);
  for (const CheckedName& checked : op_cases())
    for (const Setting& setting :
         {Setting{"f64"}, Setting{"f32", f32}, Setting{"expanded", f64, true}, Setting{"not_finite", f64, false, true}})
      write_traces(checked, setting, folder);
  write_traces(saturated_attention(), {"f32", f32}, folder);
  for (const CheckedName& checked : fused_cases())
    for (const Setting& setting : {Setting{"f64"}, Setting{"f32", f32}, Setting{"not_finite", f64, false, true}})
      write_traces(checked, setting, folder);
  std::vector<CheckedName> models = module_cases();
  for (const std::string_view model : model_names()) models.push_back(registered_case(model));
  for (const CheckedName& checked : models)
    for (const Setting& setting : {Setting{"f64"}, Setting{"expanded", f64, true}})
      write_traces(checked, setting, folder);
}

}  // namespace
}  // namespace retrace

int main(int argc, char** argv) {
  try {
    if (argc != 2) throw retrace::ValueError("case_traces: give the folder to write to");
    retrace::write_all(argv[1]);
    return 0;
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}

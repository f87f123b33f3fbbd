// Cases beyond those of the tables, for traces: kinks, the edges of domains, infinities and hidden values.
#pragma once

#include <retrace/ops/checks/check_case.h>
#include <retrace/ops/ops.h>

#include <cmath>
#include <functional>

namespace retrace {

inline CheckCase edge(const std::function<Tensor(const Tensors&)>& f, const Tensors& inputs) {
  return {[f](const Tensors& in) { return Tensors{f(in)}; }, inputs};
}

/// Where the tables do not go: kinks, ties, the edges of domains, eight axes, and nothing.
inline CheckedName edges() {
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
       unary(asin, zeros_and_ones),
       unary(acos, zeros_and_ones),
       unary(lgamma, zeros_and_ones),
       edge([](const Tensors& in) { return logit(in[0]); }, {zeros_and_ones}),
       edge([](const Tensors& in) { return logit(in[0], 0.25); }, {tensor({-1.0, 0.25, 0.75, 2.0}, f64)}),
       edge([](const Tensors& in) { return atan2(in[0], in[1]); }, {zeros_and_ones, zeros_and_ones}),
       edge([](const Tensors& in) { return xlogy(in[0], in[1]); },
            {zeros_and_ones, tensor({0.0, 0.0, 2.0, -1.0}, f64)}),
       edge([](const Tensors& in) { return remainder(in[0], in[1]); }, {ties, tensor({0.3, 0.0, -0.5}, f64)}),
       edge([](const Tensors& in) { return pow(in[0], 0); }, {zeros_and_ones}),
       edge([](const Tensors& in) { return pow(in[0], 1); }, {zeros_and_ones}),
       edge([](const Tensors& in) { return pow(in[0], in[1]); }, {zeros_and_ones, tensor({0.0, 0.0, 2.0, 0.0}, f64)}),
       edge([](const Tensors& in) { return maximum(in[0], in[1]); }, {ties, tensor({2.0, 0.0, 3.0}, f64)}),
       edge([](const Tensors& in) { return minimum(in[0], in[1]); }, {ties, tensor({2.0, 0.0, 3.0}, f64)}),
       along(max, ties, {}),
       along(max, ties, 1),
       along(min, ties, 0),
       along(norm, ties, 1),
       edge([](const Tensors& in) { return norm(in[0], 1, {}, 3); }, {ties}),
       edge([](const Tensors& in) { return norm(in[0], 1, {}, 0.5); }, {ties}),
       edge([](const Tensors& in) { return norm(in[0], 1, {}, -2); }, {ties}),
       edge([](const Tensors& in) { return logcumsumexp(in[0], 1); }, {with_infinity}),
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
inline CheckedName edges_of_products() {
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
inline CheckedName edges_of_rows() {
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
inline CheckedName edges_of_losses_and_ids() {
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
       edge([](const Tensors& in) { return embedding(in[0], in[1], {.padding_idx = 2}); }, {x, indices({{2, 0, 2}})}),
       edge([](const Tensors& in) { return scatter_add(in[0], in[1], in[0]); }, {x, indices({1, 1, 1})}),
       edge([](const Tensors& in) { return scatter(in[0], in[1], in[0], 1); }, {x, zeros({3, 4}, i64)}),
       edge([](const Tensors& in) { return bce(in[0], in[1], Reduction::none); },
            {tensor({0.0, 0.0, 1.0, 1.0}, f64), tensor({0.0, 1.0, 0.0, 1.0}, f64)}),
       edge([](const Tensors& in) { return ctc(in[0], in[1], indices(3), indices(2), {.zero_infinity = true}); },
            {certain, indices({3, 1})}),
       edge(dropped(0), {x}),
       edge(dropped(1), {x}),
       edge(dropped(0.5), {x}),
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

/// The limits of formulas at infinities.
inline CheckedName limits() {
  const Tensor x = tensor({-INFINITY, INFINITY, 1.0, 1.0}, f64), targets = tensor({0.0, 1.0, 0.0, 1.0}, f64);
  CheckedName result{"limits", false, {}};
  for (Tensor (*op)(const Tensor&) :
       {relu, gelu, gelu_tanh, silu, swiglu, mish, softplus, log_sigmoid, sigmoid, selu, tanh, erf, exp})
    result.cases.push_back(edge([op](const Tensors& in) { return op(in[0]); }, {x}));
  result.cases.push_back(edge([](const Tensors& in) { return elu(in[0]); }, {x}));
  for (const Tensor& t : {targets, 1.0 - targets})
    result.cases.push_back(
        edge([](const Tensors& in) { return bce_with_logits(in[0], in[1], Reduction::none); }, {x, t}));
  return result;
}

/// NaN in what masks, labels and lengths hide.
inline CheckedName hidden_values() {
  Random random(10);
  const auto normal = [&](const Shape& shape) { return random.normal(shape, f64); };
  const auto hidden_behind = [&](const Shape& shape, const Tensor& hidden) {
    return masked_fill(normal(shape), hidden, NAN);
  };
  const Tensor last = indices({0, 0, 1}), last_row = reshape(last, {3, 1}), lengths = indices({2, 3});
  const Tensor padding = reshape(indices({0, 0, 1, 0, 0, 0}), {2, 3, 1});
  const auto attend = [&](int heads, Tensor (*mask_for)(const Tensor&)) {
    return edge(
        [=](const Tensors& in) { return attention(in[0], in[1], in[2], {.heads = heads, .mask = mask_for(in[0])}); },
        {normal({2, 4}), hidden_behind({3, 4}, last_row), hidden_behind({3, 4}, last_row)});
  };
  return {"hidden_values",
          false,
          {attend(1,
                  [](const Tensor&) {
                    return indices({1, 1, 0});
                  }),
           attend(2,
                  [](const Tensor& q) {
                    return tensor({0.0, 0.5, -INFINITY}, q.dtype());
                  }),
           edge([](const Tensors& in) { return attention(in[0], in[1], in[2], {.heads = 2, .causal = true}); },
                {normal({3, 4}), normal({3, 4}), hidden_behind({3, 4}, last_row)}),
           edge([last](const Tensors& in) { return where(last, 0.5, in[0]); }, {hidden_behind({2, 3}, last)}),
           edge([last](const Tensors& in) { return masked_fill(in[0], last, 0.5); }, {hidden_behind({2, 3}, last)}),
           edge([](const Tensors& in) { return cross_entropy(in[0], in[1], {.ignore_index = -1}); },
                {hidden_behind({3, 4}, last_row), indices({2, 0, -1})}),
           edge([](const Tensors& in) { return nll(in[0], in[1], {.ignore_index = -1}); },
                {hidden_behind({3, 4}, last_row), indices({2, 0, -1})}),
           edge(
               [](const Tensors& in) {
                 return slice(linear(in[0], in[1], {}, Activation::none, Zeros::strong), {range(0, 2)});
               },
               {hidden_behind({3, 4}, last_row), normal({2, 4})}),
           edge([=](const Tensors& in) { return lstm_sequence(in[0], in[1], in[2], in[3], lengths).y; },
                {hidden_behind({2, 3, 8}, padding), normal({2, 2}), normal({2, 2}), normal({8, 2})}),
           edge([=](const Tensors& in) { return gru_sequence(in[0], in[1], in[2], in[3], lengths).y; },
                {hidden_behind({2, 3, 6}, padding), normal({2, 2}), normal({6, 2}), normal({6})}),
           edge([=](const Tensors& in) { return rnn_sequence(in[0], in[1], in[2], Activation::tanh, lengths).y; },
                {hidden_behind({2, 3, 2}, padding), normal({2, 2}), normal({2, 2})})}};
}

}  // namespace retrace

// One tensor may be two operands of an op. Its gradient is the sum of the gradients of both.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include <retrace/core/tensor/random.h>
#include <retrace/ops/ops.h>
#include <retrace/tests/compare.h>

namespace retrace {
namespace {

struct OpOfOneTensor {
  std::string name;
  Shape shape;  // of each input
  std::size_t inputs;
  std::function<Tensor(const Tensors&)> op;
};

// Small square matrices, so that all operands have the same shape. Other arguments of an op are constants.
std::vector<OpOfOneTensor> cases() {
  Random random(11);
  const Tensor of_four = random.normal({2, 3, 12}, f64);
  const Tensor weight_of_four = random.normal({12, 3}, f64);
  const Tensor gates = random.normal({3, 6}, f64), of_input = random.normal({6}, f64);
  const Tensor of_one_gate = random.normal({3}, f64);
  const Tensor ids = indices({0, 2, 0}), condition = indices({{1, 0, 1}, {0, 0, 1}, {1, 1, 0}});
  const auto two = [](auto f) { return [f](const Tensors& in) { return f(in[0], in[1]); }; };
  return {
      {"add", {3, 3}, 2, two(add)},
      {"sub", {3, 3}, 2, two(sub)},
      {"mul", {3, 3}, 2, two(mul)},
      {"div", {3, 3}, 2, two([](const Tensor& a, const Tensor& b) { return div(a, b); })},
      {"pow", {3, 3}, 2, two([](const Tensor& a, const Tensor& b) { return pow(square(a) + 1.0, b); })},
      {"where", {3, 3}, 2, two([=](const Tensor& a, const Tensor& b) { return where(condition, a, b); })},
      {"matmul", {3, 3}, 2, two([](const Tensor& a, const Tensor& b) { return matmul(a, b); })},
      {"matmul, transposed", {3, 3}, 2, two([](const Tensor& a, const Tensor& b) {
         return matmul(a, b, {.transpose_b = true});
       })},
      {"linear", {3, 3}, 2, two([](const Tensor& x, const Tensor& w) { return linear(x, w); })},
      {"outer", {3}, 2, two(outer)},
      {"layer_norm", {3}, 3, [](const Tensors& in) { return layer_norm(in[0], in[1], in[2]); }},
      {"layer_norm of two axes",
       {3, 3},
       3,
       [](const Tensors& in) { return layer_norm(in[0], in[1], in[2], {.axes = 2}); }},
      {"residual_layer_norm",
       {3},
       4,
       [](const Tensors& in) { return residual_layer_norm(in[0], in[1], in[2], in[3]); }},
      {"rms_norm", {3}, 2, two([](const Tensor& x, const Tensor& gamma) { return rms_norm(x, gamma); })},
      {"concat", {3, 3}, 2, [](const Tensors& in) { return concat(in, 1); }},
      {"scatter_add", {3, 3}, 2, two([=](const Tensor& x, const Tensor& u) { return scatter_add(x, ids, u); })},
      {"mse", {3, 3}, 2, two([](const Tensor& x, const Tensor& t) { return mse(x, square(t) + t); })},
      {"einsum", {3, 3}, 2, [](const Tensors& in) { return einsum("ij,kj->ki", in); }},
      {"smooth_l1", {3, 3}, 2, two([](const Tensor& x, const Tensor& t) { return smooth_l1(x, square(t) + t, 0.5); })},
      {"kl_divergence", {3, 3}, 2, two([](const Tensor& x, const Tensor& t) {
         return kl_divergence(x, square(t) + 1.0);
       })},
      {"bce_with_logits", {3, 3}, 2, two([](const Tensor& x, const Tensor& t) { return bce_with_logits(x, t); })},
      {"cross_entropy", {3, 3}, 2, two([](const Tensor& x, const Tensor& t) { return cross_entropy(x, t); })},
      {"attention", {2, 3, 3}, 3, [](const Tensors& in) { return attention(in[0], in[1], in[2]); }},
      {"lstm_step", {3, 3}, 2, two([=](const Tensor& h, const Tensor& c) {
         const LstmStep step = lstm_step(of_four[0], h, c, weight_of_four);
         return step.h + step.c;
       })},
      {"lstm_sequence", {2, 3}, 2, two([=](const Tensor& h, const Tensor& c) {
         return lstm_sequence(of_four, h, c, weight_of_four).y;
       })},
      {"rnn_step", {3, 3}, 3, [](const Tensors& in) { return rnn_step(in[0], in[1], in[2]); }},
      {"gated_memory", {3, 3}, 2, two([=](const Tensor& memory, const Tensor& candidate) {
         return gated_memory(memory, candidate, gates, of_input).memory;
       })},
      {"gated_memory, coupled",
       {3, 3},
       3,
       [=](const Tensors& in) { return gated_memory(in[0], in[1], in[2], of_one_gate, {.coupled = true}).memory; }},
      {"custom_op",
       {3, 3},
       2,
       [](const Tensors& in) {
         return custom_op(
             "weighted", in, [](const Tensors& x) { return x[0] * 2.0 + x[1] * 3.0; },
             [](const Tensor& dy, const Tensors&, const Tensor&) {
               return Tensors{dy * 2.0, dy * 3.0};
             });
       }},
  };
}

Tensor gradient_of_one(const OpOfOneTensor& of, const Tensor& value, const Tensor& cotangent) {
  const Tensor x = parameter(value);
  Tape tape;
  tape.backward({of.op(Tensors(of.inputs, x))}, {cotangent});
  return x.grad();
}

Tensor sum_of_gradients(const OpOfOneTensor& of, const Tensor& value, const Tensor& cotangent) {
  Tensors inputs;
  for (std::size_t i = 0; i < of.inputs; ++i) inputs.push_back(parameter(value));
  Tape tape;
  tape.backward({of.op(inputs)}, {cotangent});
  Tensor all = zeros_like(value);
  for (const Tensor& input : inputs)
    if (input.has_grad()) all = all + input.grad();
  return all;
}

TEST(OneTensorTwice, GetsTheSumOfBothGradients) {
  for (const OpOfOneTensor& each : cases()) {
    Random random(7);
    const Tensor value = random.normal(each.shape, f64);
    const Tensor cotangent = random.normal(each.op(Tensors(each.inputs, value)).shape(), f64);
    const Tensor together = gradient_of_one(each, value, cotangent), apart = sum_of_gradients(each, value, cotangent);
    EXPECT_LT(difference(together, apart), 1e-12) << each.name << "\n" << together << "\n" << apart;
  }
}

}  // namespace
}  // namespace retrace

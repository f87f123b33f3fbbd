// linear with an activation: one record, bit-identical to two ops, and its gradients at the edges.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <utility>

#include <retrace/tests/compare.h>
#include <retrace/tests/ops/gradient_support.h>

namespace retrace {
namespace {

/// y and the gradients of the leaves for the cotangent dy.
Tensors results_of_linear(const Tensors& leaves, const Tensor& dy, const std::function<Tensor()>& run) {
  for (const Tensor& leaf : leaves) leaf.zero_grad();
  Tape tape;
  const Tensor y = run();
  tape.backward({y}, {dy});
  Tensors results{y};
  for (const Tensor& leaf : leaves) results.push_back(leaf.grad().clone());
  return results;
}

TEST(Linear, WithAnActivationHasTheBitsOfTwoOps) {
  const std::pair<Activation, Tensor (*)(const Tensor&)> activations[] = {{Activation::relu, relu},
                                                                          {Activation::tanh, tanh},
                                                                          {Activation::sigmoid, sigmoid},
                                                                          {Activation::gelu, gelu},
                                                                          {Activation::gelu_tanh, gelu_tanh}};
  Random random(5);
  const auto check = [&](const Shape& shape, std::int64_t out, Dtype dtype) {
    const Tensor x = parameter(random.normal(shape, dtype)), bias = parameter(random.normal({out}, dtype));
    const Tensor w = parameter(random.normal({out, shape[-1]}, 0, 0.3, dtype));
    const Tensor dy = random.normal(linear(x, w, bias).shape(), dtype);
    for (const auto& [f, op] : activations) {
      SCOPED_TRACE(text(op(full({}, -0.5)), " of ", shape, " to ", out, " ", dtype));
      const Tensors one = results_of_linear({x, w, bias}, dy, [&, f = f] { return linear(x, w, bias, f); });
      const Tensors two = results_of_linear({x, w, bias}, dy, [&, op = op] { return op(linear(x, w, bias)); });
      for (std::size_t part = 0; part < one.size(); ++part) EXPECT_TRUE(same_bits(one[part], two[part])) << part;
      EXPECT_TRUE(same_bits(linear(x, w, bias, f), one[0])) << "without a tape";
      const Tensors bare = results_of_linear({x, w}, dy, [&, f = f] { return linear(x, w, {}, f); });
      const Tensors bare_two = results_of_linear({x, w}, dy, [&, op = op] { return op(linear(x, w)); });
      for (std::size_t part = 0; part < 3; ++part) EXPECT_TRUE(same_bits(bare[part], bare_two[part])) << part;
    }
  };
  for (const Dtype dtype : {f32, f64}) {
    check({5}, 3, dtype);
    check({0, 5}, 3, dtype);
    check({4, 0}, 3, dtype);
    check({2, 3, 7}, 9, dtype);
    check({130, 400}, 70, dtype);  // two blocks of rows, two of depth
    check({40, 10}, 1100, dtype);  // two blocks of columns
  }
}

TEST(Linear, WithAnActivationIsOneRecord) {
  Random random(6);
  const Tensor x = random.normal({2, 3}), w = parameter(random.normal({4, 3}));
  Tape tape;
  linear(x, w, {}, Activation::gelu);
  ASSERT_EQ(tape.size(), 1);
  EXPECT_EQ(tape.records()[0]->formulas().forward, "z = x W^T, y = gelu(z)");
  Tape expanded({.expand_fused = true});
  linear(x, w, {}, Activation::gelu);
  EXPECT_EQ(expanded.size(), 2);
}

TEST(Linear, NanInIsNanOutWithEveryActivation) {
  const Tensor x = tensor({{nan}, {infinity}, {-infinity}}, f64), w = ones({1, 1}, f64);
  for (const Activation activation : {Activation::relu, Activation::tanh, Activation::sigmoid, Activation::gelu})
    EXPECT_TRUE(std::isnan(linear(x, w, {}, activation).at({0, 0}))) << static_cast<int>(activation);
  EXPECT_EQ(linear(x, w, {}, Activation::relu).at({1, 0}), infinity);
  EXPECT_EQ(linear(x, w, {}, Activation::relu).at({2, 0}), 0);
}

TEST(Linear, OfAChangedOutputIsNotWalked) {
  Random random(7);
  const Tensor x = random.normal({2, 3}), w = parameter(random.normal({4, 3}));
  Tape tape;
  const Tensor y = linear(x, w, {}, Activation::tanh), loss = sum(y);
  y.mutable_values<float>()[0] = 1;  // its slope follows from it
  EXPECT_THROW(tape.backward(loss), TapeError);
}

}  // namespace
}  // namespace retrace

// Checks of second derivatives: right ops pass, and ops whose gradient is right fail if its own derivative is not.
#include <gtest/gtest.h>

#include <retrace/nn/nn.h>
#include <retrace/tests/core/checks/planted_op.h>
#include <retrace/tests/errors.h>

namespace retrace {
namespace {

const GradcheckOptions second_order{.order = 2};

/// The mistake of a backward that reads plain values: it drops the tangents of dual numbers.
Tensor as_constant(const Tensor& x) {
  if (x.dtype() != dual) return x;
  const Tensor result = x.clone();
  for (Dual& element : result.mutable_values<Dual>()) element.tangent = 0;
  return result;
}

Tensor maybe_constant(const Tensor& x, bool constant) { return constant ? as_constant(x) : x; }

struct DroppedTangent {
  const char* name;
  Tensors inputs;
  Forward forward;
  BackwardFunction backward;

  GradcheckResult check(bool bug, const GradcheckOptions& options) const {
    return gradcheck([&](const Tensors& in) { return recorded(forward, backward, in, bug); }, inputs, options);
  }
};

std::vector<DroppedTangent> dropped_tangents() {
  Random random(4);
  const auto normal = [&](const Shape& shape) { return random.normal(shape, f64); };
  return {{"tanh by a constant y",
           {normal({3})},
           [](const Tensor& a, const Tensor&) { return tanh(a); },
           by([](const Seen& s) { return s.dy * (1.0 - square(maybe_constant(s.y, s.bug))); })},
          {"exp by a constant y",
           {normal({3})},
           [](const Tensor& a, const Tensor&) { return exp(a); },
           by([](const Seen& s) { return s.dy * maybe_constant(s.y, s.bug); })},
          {"a product by a constant factor",
           {normal({2, 3}), normal({2, 3})},
           [](const Tensor& a, const Tensor& b) { return a * b; },
           by([](const Seen& s) {
             return Tensors{s.dy * maybe_constant(s.b, s.bug), s.dy * s.a};
           })},
          {"a softmax by a constant sum",
           {normal({2, 4})},
           [](const Tensor& a, const Tensor&) { return softmax(a); },
           by([](const Seen& s) {
             return s.y * (s.dy - maybe_constant(sum(s.dy * s.y, {-1}, {.keepdims = true}), s.bug));
           })}};
}

TEST(SecondOrder, FindsATangentThatABackwardDrops) {
  for (const DroppedTangent& one : dropped_tangents()) {
    EXPECT_TRUE(one.check(false, second_order).passed()) << one.name << ": " << one.check(false, second_order);
    EXPECT_TRUE(one.check(true, {}).passed()) << one.name << ": its gradient is right";
    EXPECT_FALSE(one.check(true, second_order).passed()) << one.name;
  }
}

/// A chain: the cotangent of the inner op moves with the outer one.
TEST(SecondOrder, FindsACotangentThatABackwardTakesForConstant) {
  const auto f = [](bool bug) {
    return [bug](const Tensor& x) {
      return square(custom_op(
          "cube", {x}, [](const Tensors& in) { return in[0] * in[0] * in[0]; },
          [bug](const Tensor& dy, const Tensors& in, const Tensor&) -> Tensors {
            return {3.0 * square(in[0]) * (bug ? as_constant(dy) : dy)};
          }));
    };
  };
  const Tensor x = tensor({0.5, -1.5}, f64);
  EXPECT_TRUE(gradcheck(f(true), x).passed());
  const GradcheckResult wrong = gradcheck(f(true), x, second_order), right = gradcheck(f(false), x, second_order);
  EXPECT_TRUE(right.passed()) << right;
  EXPECT_FALSE(wrong.passed()) << wrong;
  EXPECT_NEAR(wrong.worst.front().analytic / wrong.worst.front().numeric, 0.4, 1e-9)
      << "(x^6)\" = 30 x^4, of which 18 x^4 come by the cotangent";
}

TEST(SecondOrder, PassesModulesAndTheirWeights) {
  const DtypeScope doubles(f64);
  Random random(5);
  const Lstm lstm(3, 4, random);
  const Tensor x = random.normal({2, 3, 3});
  const GradcheckResult result = gradcheck(
      lstm, [&](const Lstm& model) { return model(x).y; }, second_order);
  EXPECT_TRUE(result.passed()) << result;
  EXPECT_EQ(result.elements, count_parameters(lstm));
}

/// The gradient of a linear function does not depend on its input, which is no mistake.
TEST(SecondOrder, PassesALinearFunction) {
  const GradcheckResult result = gradcheck([](const Tensor& x) { return 2.0 * x; }, tensor({1, 2}, f64), second_order);
  EXPECT_TRUE(result.passed()) << result;
}

TEST(SecondOrder, IsUndefinedWhereAGradientHasNoDerivative) {
  const auto root = [](const Tensor& x) { return sqrt(x); };
  EXPECT_FALSE(gradcheck(root, tensor({0, 1}, f64), second_order).passed());
  EXPECT_TRUE(gradcheck(root, tensor({0.5, 1}, f64), second_order).passed());
}

TEST(SecondOrder, RefusesOtherOrders) {
  EXPECT_EQ(message_of([] { gradcheck([](const Tensor& x) { return x * x; }, tensor({1.0}, f64), {.order = 3}); }),
            "gradcheck: the order is 3; derivatives of order 1 and 2 can be checked");
}

}  // namespace
}  // namespace retrace

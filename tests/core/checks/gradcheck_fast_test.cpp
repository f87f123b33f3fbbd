// Fast gradient checks, and gradient checks as assertions of GoogleTest.
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <sstream>

#include <retrace/core/gradcheck_gtest.h>
#include <retrace/nn/nn.h>

namespace retrace {
namespace {

// y = w x, with a backward that is wrong for element `wrong` of w alone (-1: for none).
Tensor scaled(const Tensor& w, const Tensor& x, std::int64_t wrong) {
  return custom_op(
      "scaled", {w}, [x](const Tensors& in) { return in[0] * x; },
      [x, wrong](const Tensor& dy, const Tensors&, const Tensor&) {
        const Tensor dw = (dy * x).clone();
        if (wrong >= 0 && dw.dtype() == f64) dw.mutable_values<double>()[static_cast<std::size_t>(wrong)] *= 2;
        return Tensors{dw};
      });
}

TEST(FastGradcheck, PassesALargeModelWithoutMovingAnElement) {
  Random random(1);
  const Lstm model(32, 64, random);
  const Tensor x = random.normal({2, 5, 32}, f64);
  int calls = 0;
  const GradcheckResult result = gradcheck(model, [&](const Lstm& m) { return ++calls, m(x).y; }, {.fast = true});
  EXPECT_TRUE(result.passed()) << result;
  EXPECT_EQ(result.directions, 3);
  EXPECT_EQ(result.elements, count_parameters(model));
  EXPECT_LT(calls, 20);
  std::ostringstream report;
  report << result;
  EXPECT_NE(report.str().find("24832 elements along 3 random directions, exact error"), std::string::npos)
      << report.str();
}

TEST(FastGradcheck, FindsOneWrongElementAndWhichItIs) {
  Random random(2);
  const Tensor w = random.normal({100}, f64), x = random.normal({100}, f64);
  const GradcheckResult result = gradcheck([&](const Tensor& v) { return scaled(v, x, 42); }, w, {.fast = true});
  EXPECT_FALSE(result.passed());
  EXPECT_EQ(result.failed, 1);
  ASSERT_FALSE(result.worst.empty());
  EXPECT_EQ(result.worst[0].index, 42);
  EXPECT_NEAR(result.worst[0].analytic / result.worst[0].numeric, 2, 1e-9);
}

TEST(FastGradcheck, IsVacuousWithoutDualNumbersOrWithoutUse) {
  const Tensor x = ones({3}, f64);
  const auto without_duals = [](const Tensor& v) {
    return custom_op(
        "own", {v}, [](const Tensors& in) { return in[0] * 2; },
        [](const Tensor& dy, const Tensors&, const Tensor&) { return Tensors{dy * 2}; }, {.differences_only = true});
  };
  EXPECT_FALSE(gradcheck(without_duals, x, {.fast = true}).passed());
  EXPECT_TRUE(gradcheck(without_duals, x).passed());
  const GradcheckResult unused = gradcheck([](const Tensors& in) { return in[0] * 2; }, {x, x}, {.fast = true});
  EXPECT_NE(unused.vacuous.find("input 1"), std::string::npos) << unused;
}

TEST(ExpectGradients, TakesFunctionsAndModels) {
  Random random(3);
  const Tensor a = random.normal({2, 3}, f64), b = random.normal({3, 2}, f64);
  EXPECT_GRADIENTS([](const Tensors& in) { return tanh(matmul(in[0], in[1])); }, {a, b});
  EXPECT_GRADIENTS([](const Tensor& v) { return relu(v); }, a, {.kinks = {0}});
  const Linear linear(3, 2, random);
  ASSERT_GRADIENTS(linear, [&](const Linear& m) { return m(a); });
}

TEST(ExpectGradients, FailsWithTheReport) {
  static const Tensor x = ones({3}, f64);
  EXPECT_NONFATAL_FAILURE(EXPECT_GRADIENTS([](const Tensor& v) { return scaled(v, x, 1); }, x),
                          "gradcheck FAILED: scaled, 3 elements");
}

}  // namespace
}  // namespace retrace

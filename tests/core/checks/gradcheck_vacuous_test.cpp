// A check that cannot test a function, or one of its inputs, fails and says why.
#include <gtest/gtest.h>

#include <sstream>

#include <retrace/core/checks/gradcheck.h>
#include <retrace/ops/ops.h>

namespace retrace {
namespace {

void expect_vacuous(const GradcheckResult& result, const std::string& why) {
  EXPECT_FALSE(result.passed()) << result;
  EXPECT_EQ(result.vacuous, why);
  std::ostringstream report;
  report << result;
  EXPECT_TRUE(report.str().starts_with("gradcheck FAILED: ")) << report.str();
  EXPECT_NE(report.str().find("\n  vacuous: " + why + "\n"), std::string::npos) << report.str();
}

const char* const ignores_its_input =
    "f does not depend on input 0: it is constant there, or reads a captured tensor instead of its argument "
    "(allow_unused "
    "lets some inputs be of no use)";

TEST(VacuousGradcheck, AFunctionThatIgnoresItsInputFails) {
  const Tensor captured = tensor({1, 2, 3}, f64), x = tensor({4, 5, 6}, f64);
  expect_vacuous(gradcheck([&](const Tensor&) { return exp(captured); }, x), ignores_its_input);
  expect_vacuous(gradcheck([&](const Tensor&) { return exp(parameter(captured)); }, x), ignores_its_input);
  expect_vacuous(gradcheck([](const Tensor&) { return ones({2}, f64); }, x), ignores_its_input);
  expect_vacuous(gradcheck([](const Tensor& v) { return full_like(v, 3); }, x), ignores_its_input);
}

TEST(VacuousGradcheck, AnInputThatIsNotUsedIsNamedAndCanBeAllowed) {
  const Tensors at{ones({3}, f64), ones({2}, f64)};
  const Function f = [](const Tensors& in) { return Tensors{exp(in[0])}; };
  expect_vacuous(
      gradcheck(f, at, {.names = {"x", "w"}}),
      "f does not depend on w: it is constant there, or reads a captured tensor instead of its argument (allow_unused "
      "lets some inputs be of no use)");
  EXPECT_TRUE(gradcheck(f, at, {.allow_unused = true}).passed());
  const Function constant = [](const Tensors&) { return Tensors{ones({2}, f64)}; };
  EXPECT_FALSE(gradcheck(constant, at, {.allow_unused = true}).passed()) << "some input must be of use";
}

TEST(VacuousGradcheck, AnInputThatIsDetachedFailsByItsDifferences) {
  const GradcheckResult result = gradcheck([](const Tensor& x) { return exp(x.detach()); }, ones({3}));
  EXPECT_FALSE(result.passed()) << result;
  EXPECT_EQ(result.failed, 3);
  EXPECT_EQ(result.vacuous, "") << "the differences say more";
}

/// The gradient is 0, but f was computed from x.
TEST(VacuousGradcheck, AFunctionWhoseGradientIsZeroIsChecked) {
  const GradcheckResult result = gradcheck([](const Tensor& x) { return 0 * x; }, ones({3}));
  EXPECT_TRUE(result.passed()) << result;
}

TEST(VacuousGradcheck, IntegersAloneFail) {
  const Function embed = [](const Tensors& in) { return Tensors{one_hot(in[0], 3, f64)}; };
  expect_vacuous(gradcheck(embed, {indices({0, 2})}), "no input has real numbers (f32 or f64)");
  const Function of_no_input = [](const Tensors&) { return Tensors{ones({2}, f64)}; };
  expect_vacuous(gradcheck(of_no_input, Tensors{}), "no input has real numbers (f32 or f64)");
  expect_vacuous(gradcheck([](const Tensor& x) { return argmax(x); }, tensor({1, 3, 2}, f64)),
                 "f gives no real numbers (f32 or f64)");
}

TEST(VacuousGradcheck, SkippedElementsAloneFail) {
  const auto f = [](const Tensor& x) { return relu(x); };
  expect_vacuous(gradcheck(f, zeros({4}), {.kinks = {0}}), "all 4 elements were skipped: they are too close to a kink");
  const GradcheckResult some = gradcheck(f, tensor({0, 1}, f64), {.kinks = {0}});
  EXPECT_TRUE(some.passed()) << some;
  std::ostringstream report;
  report << some;
  EXPECT_TRUE(report.str().starts_with("gradcheck passed: relu, 1 elements, 1 skipped, 0 failed, ")) << report.str();
  expect_vacuous(gradcheck([](const Tensor& x) { return exp(x); }, ones({4}), {.max_elements = 0}),
                 "no element was drawn: max_elements is 0");
}

TEST(VacuousGradcheck, NoElementsFailUnlessTheyAreAllowed) {
  const auto f = [](const Tensor& x) { return exp(x); };
  const auto of_nothing = [](const Tensor& x) { return slice(x, {range(0, 0)}); };
  expect_vacuous(gradcheck(f, zeros({0, 3})), "the inputs have no elements");
  expect_vacuous(gradcheck(of_nothing, ones({3})), "f gives no real numbers (f32 or f64)");
  EXPECT_TRUE(gradcheck(f, zeros({0, 3}), {.allow_empty = true}).passed());
  EXPECT_TRUE(gradcheck(of_nothing, ones({3}), {.allow_empty = true}).passed());
  EXPECT_FALSE(gradcheck([](const Tensor&) { return ones({2}, f64); }, ones({3}), {.allow_empty = true}).passed())
      << "that is another reason";
  const Function beside = [](const Tensors& in) { return Tensors{concat({in[0], in[1]})}; };
  EXPECT_TRUE(gradcheck(beside, {ones({3}), zeros({0})}).passed()) << "an empty input beside one that is checked";
}

}  // namespace
}  // namespace retrace

// Gradients whose squares overflow or underflow, in clipping and in the optimisers that square them.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include <retrace/nn/nn.h>
#include <retrace/tests/compare.h>

namespace retrace {
namespace {

/// A leaf with this gradient.
Parameter with_gradient(const Tensor& gradient) {
  Parameter x(zeros_like(gradient));
  Tape tape;
  tape.backward({x * 1.0}, {gradient});
  return x;
}

TEST(ExtremeGradients, AreClippedToTheLimit) {
  struct Case {
    Dtype dtype;
    double scale, limit;
  };
  for (const auto& [dtype, scale, limit] :
       {Case{f64, 1e160, 2}, Case{f64, 4e307, 1e-3}, Case{f64, 1e-170, 1e-180}, Case{f64, 4e307, 1e300},
        Case{f32, 5e37, 2}, Case{f32, 5e37, 1e-3}, Case{f32, 1e-30, 1e-35}})
    for (const ClipRule rule : {ClipRule::exact, ClipRule::with_epsilon}) {
      if (rule == ClipRule::with_epsilon && scale < 1) continue;  // far below its epsilon
      const Parameter a = with_gradient(tensor({3.0, -4.0}, dtype) * scale),
                      b = with_gradient(tensor({12.0}, dtype) * 0.25 * scale);
      const double norm = clip_norm({a, b}, limit, rule), want = scale * std::sqrt(34.0);
      EXPECT_TRUE(norm == want || std::abs(norm / want - 1) < 1e-6) << norm << " instead of " << want;
      const double eps = dtype == f32 ? 2e-7 : 1e-15;
      EXPECT_NEAR(a.grad().at({0}) / limit, 3 / std::sqrt(34.0), eps) << dtype << ", " << scale;
      EXPECT_NEAR(a.grad().at({1}) / limit, -4 / std::sqrt(34.0), eps) << dtype << ", " << scale;
      EXPECT_NEAR(b.grad().at({0}) / limit, 3 / std::sqrt(34.0), eps) << dtype << ", " << scale;
    }
  const Parameter all = with_gradient(full({4}, 1.5e308, f64));  // a norm that no number holds
  EXPECT_EQ(clip_norm({all}, 4), std::numeric_limits<double>::infinity());
  expect_near(all.grad(), full({4}, 2, f64), 1e-14);
}

/// The first step of Adam is lr, whatever the size of the gradient, as long as its v is a number.
TEST(ExtremeGradients, AreAStepOfAdam) {
  for (const auto& [dtype, size] : {std::pair(f32, 1e20), std::pair(f32, 5e20), std::pair(f32, 1e-15),
                                    std::pair(f64, 1e154), std::pair(f64, 4e155), std::pair(f64, 1e-140)})
    for (const std::int64_t count : {1, 40})
      for (const bool amsgrad : {false, true}) {
        const Parameter x = with_gradient(full({count}, size, dtype));
        Adam adam({{"x", x}}, {.lr = 0.5, .eps = 0, .amsgrad = amsgrad});
        adam.step();
        expect_near(x, full({count}, -0.5, dtype), 1e-6, text(dtype, ", ", size));
      }
}

TEST(ExtremeGradients, AreOrthogonalStepsOfMuon) {
  const Tensor gradient = tensor({{0.5, -1.0, 0.25}, {1.0, 0.5, -0.75}}, f64);
  const auto step = [&](double scale, Dtype dtype) {
    const Parameter x = with_gradient((gradient * scale).to(dtype));
    Muon muon({{"x", x}}, {.lr = 0.1, .min_side = 1});
    muon.step();
    return x.detach().to(f64);
  };
  for (const double scale : {1e160, 1e300, 1e-160, 1e-305})
    EXPECT_LT(difference(step(scale, f64), step(1, f64)), 1e-12) << scale;
  for (const double scale : {1e25, 1e36, 1e-25, 1e-36})
    EXPECT_LT(difference(step(scale, f32), step(1, f64)), 1e-5) << scale;
  const Parameter zero = with_gradient(zeros({2, 3}));
  Muon muon({{"x", zero}}, {.lr = 0.1, .min_side = 1});
  muon.step();
  EXPECT_EQ(max(abs(zero)).item(), 0);
}

}  // namespace
}  // namespace retrace

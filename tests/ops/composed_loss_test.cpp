// Losses of probabilities and rates, margin losses, and weighted positives: formulas, edges, infinities.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include <retrace/core/checks/derivatives.h>
#include <retrace/ops/ops.h>
#include <retrace/tests/compare.h>
#include <retrace/tests/ops/gradient_support.h>

namespace retrace {
namespace {

constexpr Reduction each = Reduction::none;

/// The gradient of the sum of f at x.
template <class Function> Tensor gradient(const Tensor& x, const Function& f) {
  return vjp([&](const Tensor& at) { return sum(f(at)); }, x, ones({}, x.dtype()));
}

/// f's mean and sum are those of its losses.
template <class Function> void expect_reduced(const Function& f, const char* what) {
  expect_near(f(Reduction::mean), mean(f(each)), 1e-15, what);
  expect_near(f(Reduction::sum), sum(f(each)), 1e-14, what);
}

TEST(BceWithLogits, CountsPositivesPosWeightTimes) {
  Random random(1);
  const Tensor x = random.normal({4, 3}, 0, 3, f64), t = random.uniform({4, 3}, 0, 1, f64);
  const Tensor p = tensor({0.25, 1.0, 6.0}, f64);
  const Tensor want = p * t * softplus(-x) + (1 - t) * softplus(x);
  expect_near(bce_with_logits(x, t, {.reduction = each, .pos_weight = p}), want, 1e-14);
  expect_reduced([&](Reduction r) { return bce_with_logits(x, t, {.reduction = r, .pos_weight = p}); }, "pos_weight");
  expect_near(bce_with_logits(x, t, {.pos_weight = ones({}, f64)}), bce_with_logits(x, t), 1e-15);
  EXPECT_TRUE(same_bits(bce_with_logits(x, t, {.reduction = Reduction::sum}), bce_with_logits(x, t, Reduction::sum)));
}

TEST(BceWithLogits, WithPosWeightIsExactInBothTailsAndAtInfinity) {
  const auto loss = [](double x, double t, double p) {
    return bce_with_logits(number(x), number(t), {.pos_weight = number(p)}).item();
  };
  EXPECT_NEAR(loss(40, 1, 3) / (3 * std::exp(-40.0)), 1, 1e-12);
  EXPECT_NEAR(loss(-40, 0, 3) / std::exp(-40.0), 1, 1e-12);
  EXPECT_DOUBLE_EQ(loss(-1000, 1, 1e-20), 1e-17);
  EXPECT_EQ(loss(infinity, 1, 3), 0);
  EXPECT_EQ(loss(-infinity, 0, 3), 0);
  EXPECT_EQ(loss(infinity, 0, 3), infinity);
  EXPECT_EQ(loss(-infinity, 1, 3), infinity);
  EXPECT_EQ(loss(-infinity, 1, 0), 0) << "a positive that does not count";
  EXPECT_TRUE(std::isnan(loss(nan, 1, 0)));
}

TEST(Bce, IsItsFormulaAndThatOfLogits) {
  Random random(2);
  const Tensor x = random.normal({4, 3}, f64), t = random.uniform({4, 3}, 0, 1, f64);
  expect_near(bce(sigmoid(x), t, each), bce_with_logits(x, t, each), 1e-14);
  expect_reduced([&](Reduction r) { return bce(sigmoid(x), t, r); }, "bce");
  expect_near(gradient(x, [&](const Tensor& at) { return bce(sigmoid(at), t); }),
              gradient(x, [&](const Tensor& at) { return bce_with_logits(at, t); }), 1e-14);
  EXPECT_EQ(bce(tensor({0.25}, f64), ones({1}, f64)).item(), -std::log(0.25));
  EXPECT_NEAR(bce(tensor({1e-20}, f64), zeros({1}, f64)).item(), 1e-20, 1e-35) << "1 - 1e-20 is 1";
}

TEST(Bce, CountsLogarithmsBelowMinusHundredAsThat) {
  for (const Dtype dtype : {f32, f64}) {
    const Tensor x = tensor({0.0, 0.0, 1.0, 1.0}, dtype), t = tensor({0.0, 1.0, 0.0, 1.0}, dtype);
    EXPECT_TRUE(same_bits(abs(bce(x, t, each)), tensor({0.0, 100.0, 100.0, 0.0}, dtype)));
    expect_near(gradient(x, [&](const Tensor& at) { return bce(at, t, each); }), tensor({1.0, 0.0, 0.0, -1.0}, dtype),
                0);
    expect_near(gradient(t, [&](const Tensor& at) { return bce(x, at, each); }),
                tensor({100.0, 100.0, -100.0, -100.0}, dtype), 0);
  }
  EXPECT_NEAR(bce(number(1e-50), number(1)).item(), 100, 0);
  for (const double outside : {-0.1, 1.1, nan}) EXPECT_TRUE(std::isnan(bce(number(outside), number(0.5)).item()));
}

TEST(GaussianNll, IsTheLogarithmOfTheDensity) {
  Random random(3);
  const Tensor x = random.normal({4, 3}, f64), t = random.normal({4, 3}, f64), v = random.uniform({4, 1}, 0.1, 3, f64);
  const Tensor density = exp(-square(x - t) / (2 * v)) / sqrt(2 * std::numbers::pi * v);
  expect_near(gaussian_nll(x, t, v, {.reduction = each, .full = true}), -log(density), 1e-13);
  expect_near(gaussian_nll(x, t, v), mean(-log(density)) - std::log(2 * std::numbers::pi) / 2, 1e-13);
  expect_reduced([&](Reduction r) { return gaussian_nll(x, t, v, {.reduction = r}); }, "gaussian_nll");
}

TEST(GaussianNll, OfAVarianceBelowEps) {
  const auto loss = [](const Tensor& v) { return gaussian_nll(number(1), number(3), v, {.eps = 0.5}); };
  EXPECT_EQ(loss(number(0)).item(), (std::log(0.5) + 8) / 2);
  EXPECT_EQ(slope(loss, 0.25), 0);
  EXPECT_EQ(slope(loss, 2), (0.5 - 1) / 2);
  for (const double v : {-1e-9, -2.0, nan}) EXPECT_TRUE(std::isnan(loss(number(v)).item()));
}

TEST(PoissonNll, IsItsFormulaOfRatesAndOfTheirLogarithms) {
  const Tensor x = tensor({0.5, 2.0, 4.0}, f64), t = tensor({0.0, 1.0, 7.0}, f64);
  expect_near(poisson_nll(log(x), t, {.reduction = each}), x - t * log(x), 1e-14);
  expect_near(poisson_nll(x, t, {.reduction = each, .log_input = false}), x - t * log(x + 1e-8), 1e-14);
  expect_reduced([&](Reduction r) { return poisson_nll(x, t, {.reduction = r}); }, "poisson_nll");
  const Tensor all = poisson_nll(log(x), t, {.reduction = each, .full = true}) - (x - t * log(x));
  EXPECT_EQ(all.at({0}), 0);
  EXPECT_EQ(all.at({1}), 0);
  EXPECT_NEAR(all.at({2}), std::lgamma(8.0), 0.013) << "Stirling: 1 / (12 t)";
  const Tensor of_t = gradient(t, [&](const Tensor& at) { return poisson_nll(x, at, {.full = true}) * 3.0; });
  expect_near(of_t, -x + tensor({0.0, 0.0, std::log(7.0) + 1.0 / 14}, f64), 1e-14, "no NaN from ln 0");
}

TEST(MarginLosses, AreTheirFormulas) {
  const Tensor t = indices({1, 1, -1, -1}), x = tensor({0.5, -2.0, 0.25, 3.0}, f64), b = tensor({1.0, -3, 1, 1}, f64);
  EXPECT_TRUE(same_bits(hinge_embedding(x, t, 1, each), tensor({0.5, -2.0, 0.75, 0.0}, f64)));
  EXPECT_TRUE(same_bits(hinge_embedding(x, t.to(f64), 4, each), tensor({0.5, -2.0, 3.75, 1.0}, f64)));
  EXPECT_TRUE(same_bits(margin_ranking(x, b, t, 0, each), tensor({0.5, 0.0, 0.0, 2.0}, f64)));
  EXPECT_TRUE(same_bits(margin_ranking(x, b, t, 0.5, each), tensor({1.0, 0.0, 0.0, 2.5}, f64)));
  expect_near(soft_margin(x, t, each), log(1.0 + exp(-(t.to(f64) * x))), 1e-15);
  EXPECT_EQ(soft_margin(number(-1e4), indices(1)).item(), 1e4) << "no overflow";
  expect_reduced([&](Reduction r) { return hinge_embedding(x, t, 1, r); }, "hinge_embedding");
  expect_reduced([&](Reduction r) { return margin_ranking(x, b, t, 1, r); }, "margin_ranking");
  expect_reduced([&](Reduction r) { return soft_margin(x, t, r); }, "soft_margin");
}

TEST(MarginLosses, HaveNoGradientWhereTheMarginIsJustReached) {
  const Tensor t = indices({-1, -1}), x = tensor({1.0, 0.75}, f64);
  expect_near(gradient(x, [&](const Tensor& at) { return hinge_embedding(at, t, 1, each); }), tensor({0, -1}, f64), 0);
  expect_near(gradient(x, [&](const Tensor& at) { return margin_ranking(at, ones({2}, f64), t, 0.25, each); }),
              tensor({1, 0}, f64), 0);
}

TEST(MultiMargin, SumsOverTheOtherClasses) {
  const Tensor x = tensor({{0.1, 0.2, 0.4, 0.8}, {2.0, 0.0, 0.5, 1.5}}, f64), labels = indices({3, 0});
  // The first row is the example of PyTorch's documentation: 0.25 (1 - (0.8 - 0.1) + 1 - (0.8 - 0.2) + 1 - (0.8 -
  // 0.4)).
  expect_near(multi_margin(x, labels, {.reduction = each}), tensor({0.325, 0.125}, f64), 1e-15);
  expect_near(multi_margin(x, labels, {.reduction = each, .power = 2}), tensor({0.1525, 0.0625}, f64), 1e-15);
  const Tensor weights = tensor({4.0, 1.0, 1.0, 2.0}, f64);
  expect_near(multi_margin(x, labels, {.reduction = each, .class_weights = weights}), tensor({0.65, 0.5}, f64), 1e-15);
  expect_near(multi_margin(x, labels, {.class_weights = weights}), number(0.575), 1e-15, "the mean is over the rows");
  EXPECT_NEAR(multi_margin(x[0], indices(3)).item(), 0.325, 1e-15);
  const Tensor dx = gradient(x, [&](const Tensor& at) { return multi_margin(at, labels, {.reduction = each}); });
  expect_near(dx, tensor({{0.25, 0.25, 0.25, -0.75}, {-0.25, 0.0, 0.0, 0.25}}, f64), 1e-15);
}

TEST(CosineEmbedding, IsOfTheAngle) {
  const Tensor a = tensor({{3.0, 4.0}, {1.0, 0.0}, {0.0, 2.0}}, f64),
               b = tensor({{4.0, 3.0}, {1.0, 1.0}, {0.0, -1.0}}, f64);
  const Tensor t = indices({1, -1, -1});
  expect_near(cosine_embedding(a, b, t, 0.5, each), tensor({0.04, std::sqrt(0.5) - 0.5, 0.0}, f64), 1e-15);
  expect_reduced([&](Reduction r) { return cosine_embedding(a, b, t, 0, r); }, "cosine_embedding");
  expect_near(cosine_embedding(1e200 * a, 1e-3 * b, t, 0.5, each), cosine_embedding(a, b, t, 0.5, each), 1e-14,
              "squares would overflow");
  const Tensor zero = zeros({3, 2}, f64);
  expect_near(cosine_embedding(zero, b, t, 0, each), tensor({1, 0, 0}, f64), 0);
  EXPECT_FALSE(std::isnan(sum(gradient(zero, [&](const Tensor& at) { return cosine_embedding(at, b, t); })).item()));
}

TEST(TripletMargin, ComparesDistances) {
  const Tensor a = tensor({{0.0, 0.0}, {1.0, 1.0}}, f64), p = tensor({{3.0, 4.0}, {1.0, 2.0}}, f64);
  const Tensor n = tensor({{0.0, 2.0}, {1.0, 5.0}}, f64);
  expect_near(triplet_margin(a, p, n, {.reduction = each, .eps = 0}), tensor({4, 0}, f64), 1e-15);
  expect_near(triplet_margin(a, p, n, {.reduction = each, .margin = 4, .eps = 0, .swap = true}), tensor({7, 2}, f64),
              1e-15);
  expect_reduced([&](Reduction r) { return triplet_margin(a, p, n, {.reduction = r}); }, "triplet_margin");
  const Tensor same = gradient(a, [&](const Tensor& at) { return triplet_margin(at, a, a, {.eps = 0}); });
  expect_near(same, zeros({2, 2}, f64), 0, "at distance 0");
}

TEST(ComposedLosses, OfNothingAreZero) {
  const Tensor none = zeros({0, 3}, f64), signs = zeros({0, 3}, i64);
  for (const Tensor& loss :
       {bce(none, none), gaussian_nll(none, none, none), poisson_nll(none, none), hinge_embedding(none, signs),
        margin_ranking(none, none, signs), soft_margin(none, signs), multi_margin(none, zeros({0}, i64)),
        cosine_embedding(none, none, zeros({0}, i64)), triplet_margin(none, none, none),
        bce_with_logits(none, none, {.pos_weight = ones({3}, f64)})})
    EXPECT_EQ(loss.item(), 0);
}

TEST(ComposedLosses, NanInIsNanOut) {
  const Tensor x = tensor({{nan, 0.5}}, f64), y = tensor({{0.25, 0.5}}, f64), t = indices({{1, -1}});
  for (const Tensor& loss :
       {bce(x, y), bce(y, x), gaussian_nll(x, y, y), gaussian_nll(y, y, x), poisson_nll(x, y), poisson_nll(y, x),
        poisson_nll(y, x, {.full = true}), hinge_embedding(x, t), hinge_embedding(x, neg(t)), margin_ranking(x, y, t),
        margin_ranking(y, x, t), soft_margin(x, t), multi_margin(x, indices({0})), multi_margin(x, indices({1})),
        cosine_embedding(x, y, indices({1})), cosine_embedding(y, x, indices({-1})), triplet_margin(x, y, y),
        triplet_margin(y, y, x)})
    EXPECT_TRUE(std::isnan(loss.item()));
}

}  // namespace
}  // namespace retrace

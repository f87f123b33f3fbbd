// Losses: against plain loops, ignored labels, reductions, soft targets, both tails.
#include <gtest/gtest.h>

#include <cmath>

#include <retrace/core/base/threads_scope.h>
#include <retrace/ops/ops.h>
#include <retrace/tests/compare.h>
#include <retrace/tests/ops/gradient_support.h>

namespace retrace {
namespace {

using Loss = Tensor (*)(const Tensor&, const Tensor&, CrossEntropyOptions);
using PairLoss = Tensor (*)(const Tensor&, const Tensor&, Reduction);

/// The gradient of f at the values, for a cotangent (1 for a scalar).
template <class Function> Tensor gradient_of(const Tensor& values, const Function& f, const Tensor& cotangent = {}) {
  const Tensor x = parameter(values);
  Tape tape;
  const Tensor y = f(x);
  tape.backward({y}, {cotangent.defined() ? cotangent : ones_like(y)});
  return x.grad();
}

double plain_cross_entropy(const Tensor& row, std::int64_t label) {
  double sum = 0;
  for (const double logit : row.values<double>()) sum += std::exp(logit);
  return std::log(sum) - row.at({label});
}

TEST(CrossEntropy, IsItsFormulaForEveryReduction) {
  Random random(1);
  const Tensor x = random.normal({2, 3, 5}, f64), labels = indices({{4, 0, 2}, {1, 1, 3}});
  const Tensor each = cross_entropy(x, labels, {.reduction = Reduction::none});
  ASSERT_EQ(each.shape(), (Shape{2, 3}));
  double total = 0;
  for (std::int64_t i = 0; i < 2; ++i)
    for (std::int64_t j = 0; j < 3; ++j) {
      const double want = plain_cross_entropy(x[i][j], static_cast<std::int64_t>(labels.at({i, j})));
      EXPECT_NEAR(each.at({i, j}), want, 1e-14);
      total += want;
    }
  EXPECT_NEAR(cross_entropy(x, labels, {.reduction = Reduction::sum}).item(), total, 1e-13);
  EXPECT_NEAR(cross_entropy(x, labels).item(), total / 6, 1e-14);
  EXPECT_NEAR(cross_entropy(x[0][0], indices(4)).item(), each.at({0, 0}), 1e-15);
  EXPECT_TRUE(same_bits(nll(log_softmax(x), labels, {.reduction = Reduction::none}),
                        neg(squeeze(gather(log_softmax(x), unsqueeze(labels, -1)), -1))));
}

/// The result must be that of the other rows alone, also for the mean.
TEST(CrossEntropy, IgnoredRowsCountNowhere) {
  Random random(2);
  const Tensor x = random.normal({4, 3}, f64), labels = indices({2, -100, 0, -100}), rows = indices({0, 2});
  for (const Loss function : {Loss(cross_entropy), Loss(nll)}) {
    for (const Reduction reduction : {Reduction::mean, Reduction::sum}) {
      const CrossEntropyOptions options{.reduction = reduction, .ignore_index = -100};
      const auto whole = [&](const Tensor& logits) { return function(logits, labels, options); };
      const auto kept = [&](const Tensor& logits) { return function(take(logits, rows), indices({2, 0}), options); };
      EXPECT_EQ(whole(x).item(), kept(x).item());
      EXPECT_TRUE(same_bits(gradient_of(x, whole), gradient_of(x, kept)));
    }
    const Tensor each = function(x, labels, {.reduction = Reduction::none, .ignore_index = -100});
    EXPECT_EQ(each.at({1}), 0);
    EXPECT_EQ(each.at({3}), 0);
    EXPECT_NE(each.at({0}), 0);
  }
}

TEST(CrossEntropy, AnIgnoredLabelMayAlsoBeAClass) {
  const Tensor x = tensor({{1, 2, 3}, {4, 0, 1}}, f64);
  EXPECT_EQ(cross_entropy(x, indices({0, 1}), {.ignore_index = 0}).item(), cross_entropy(x[1], indices(1)).item());
}

TEST(CrossEntropy, WithEveryRowIgnoredIsZeroWithZeroGradient) {
  for (const Loss function : {Loss(cross_entropy), Loss(nll)})
    for (const Dtype dtype : {f32, f64})
      for (const Reduction reduction : {Reduction::mean, Reduction::sum, Reduction::none}) {
        const CrossEntropyOptions options{.reduction = reduction, .ignore_index = 9};
        const Tensor x = tensor({{1, 2, 3}, {-1000, infinity, nan}}, dtype), labels = indices({9, 9});
        const auto loss = [&](const Tensor& logits) { return function(logits, labels, options); };
        EXPECT_TRUE(same_bits(loss(x), zeros(reduction == Reduction::none ? Shape{2} : Shape{}, dtype)));
        EXPECT_TRUE(same_bits(gradient_of(x, loss), zeros({2, 3}, dtype)));
      }
}

TEST(CrossEntropy, OfNoRows) {
  const Tensor x = zeros({0, 3}, f64), labels = indices(std::span<const std::int64_t>(), {0});
  for (const Tensor& targets : {labels, x}) {
    EXPECT_EQ(cross_entropy(x, targets).item(), 0);
    EXPECT_EQ(cross_entropy(x, targets, {.reduction = Reduction::none}).shape(), (Shape{0}));
    EXPECT_EQ(gradient_of(x, [&](const Tensor& logits) { return cross_entropy(logits, targets); }).numel(), 0);
  }
  EXPECT_EQ(nll(x, labels).item(), 0);
}

/// By the definition, row by row: q = (1 - e) [c = t] + e / C, l = -sum w q log p, and the mean divides by the sum of
/// w_t.
TEST(CrossEntropy, SmoothsAndWeightsLabels) {
  Random random(7);
  const Tensor x = random.normal({2, 3, 4}, f64), labels = indices({{3, 0, 1}, {1, 2, 0}});
  const Tensor weights = tensor({0.5, 2.0, 0.0, 1.5}, f64), logp = log_softmax(x);
  for (const double e : {0.0, 0.3, 1.0})
    for (const bool weighted : {false, true})
      for (const bool ignoring : {false, true}) {
        CrossEntropyOptions options{.reduction = Reduction::none, .label_smoothing = e};
        if (weighted) options.class_weights = weights;
        if (ignoring) options.ignore_index = 1;
        const Tensor want = zeros({2, 3}, f64);
        double counted = 0;
        for (std::int64_t row = 0; row < 6; ++row) {
          const std::int64_t label = labels.values<std::int64_t>()[static_cast<std::size_t>(row)];
          if (ignoring && label == 1) continue;
          counted += weighted ? weights.at({label}) : 1;
          for (std::int64_t c = 0; c < 4; ++c)
            want.mutable_values<double>()[static_cast<std::size_t>(row)] -=
                (weighted ? weights.at({c}) : 1) * ((c == label ? 1 - e : 0) + e / 4) * logp.at({row / 3, row % 3, c});
        }
        for (const Loss function : {Loss(cross_entropy), Loss(nll)}) {
          const Tensor& scores = function == Loss(nll) ? logp : x;
          const std::string what = text("smoothing ", e, weighted ? ", weights" : "", ignoring ? ", ignoring" : "");
          expect_near(function(scores, labels, options), want, 1e-14, what);
          CrossEntropyOptions reduced = options;
          reduced.reduction = Reduction::sum;
          expect_near(function(scores, labels, reduced), sum(want), 1e-13, what);
          reduced.reduction = Reduction::mean;
          expect_near(function(scores, labels, reduced), sum(want) / counted, 1e-14, what);
        }
      }
}

TEST(CrossEntropy, SmoothsAndWeightsSoftTargets) {
  Random random(8);
  const Tensor x = random.normal({3, 4}, f64), t = softmax(random.normal({3, 4}, f64));
  const Tensor weights = tensor({0.5, 2.0, 0.25, 1.5}, f64);
  const Tensor want = neg(sum(weights * (t * 0.75 + 0.25 / 4) * log_softmax(x), -1));
  const CrossEntropyOptions options{.reduction = Reduction::none, .label_smoothing = 0.25, .class_weights = weights};
  expect_near(cross_entropy(x, t, options), want, 1e-14);
  expect_near(cross_entropy(x, t, {.label_smoothing = 0.25, .class_weights = weights}), mean(want), 1e-14,
              "the mean is over rows");
}

/// Whatever stands in an ignored row, and in a class of weight 0.
TEST(CrossEntropy, WhatHasNoWeightHasNoLossAndNoGradient) {
  const Tensor x = tensor({{1.0, 2.0, 0.5}, {nan, infinity, 0.0}}, f64), labels = indices({0, -1});
  const Tensor row = tensor({{1.0, 2.0, 0.5}}, f64), weights = tensor({1.0, 0.0, 2.0}, f64);
  for (const Loss function : {Loss(cross_entropy), Loss(nll)})
    for (const double e : {0.0, 0.5}) {
      const CrossEntropyOptions options{.ignore_index = -1, .label_smoothing = e, .class_weights = weights};
      const auto loss = [&](const Tensor& at) { return function(at, labels, options); };
      EXPECT_EQ(loss(x).item(), function(row, indices({0}), options).item());
      EXPECT_EQ(max(abs(gradient_of(x, loss)[1])).item(), 0);
      const auto all_ignored = [&](const Tensor& at) { return function(at, indices({-1, -1}), options); };
      EXPECT_EQ(all_ignored(x).item(), 0);
      EXPECT_EQ(max(abs(gradient_of(x, all_ignored))).item(), 0);
    }
  const Tensor logp = tensor({{-1.0, -infinity, -2.0}}, f64);
  // q = (0.5 + 0.5 / 3, -, 0.5 / 3) with weights 1 and 2.
  EXPECT_NEAR(nll(logp, indices({0}), {.label_smoothing = 0.5, .class_weights = weights}).item(), 4.0 / 3, 1e-15);
}

TEST(CrossEntropy, WeightsGetNoGradient) {
  const Tensor x = parameter(ones({2, 3}, f64)), weights = parameter(ones({3}, f64));
  for (const Tensor& targets : {indices({0, 2}), ones({2, 3}, f64)}) {
    Tape tape;
    tape.backward(cross_entropy(x, targets, {.class_weights = weights}));
    EXPECT_FALSE(weights.has_grad());
  }
}

TEST(CrossEntropy, OneHotSoftTargetsEqualLabels) {
  Random random(3);
  const Tensor x = random.normal({6, 5}, 0, 3, f64), labels = random.integers({6}, 5), hot = one_hot(labels, 5, f64);
  for (const Reduction reduction : {Reduction::mean, Reduction::sum, Reduction::none}) {
    const auto hard = [&](const Tensor& logits) { return cross_entropy(logits, labels, {.reduction = reduction}); };
    const auto soft = [&](const Tensor& logits) { return cross_entropy(logits, hot, {.reduction = reduction}); };
    const Tensor dy = random.normal(hard(x).shape(), f64);
    expect_near(soft(x), hard(x), 1e-14);
    expect_near(gradient_of(x, soft, dy), gradient_of(x, hard, dy), 1e-14);
  }
}

TEST(CrossEntropy, SoftTargetsNeedNotSumToOne) {
  Random random(4);
  const Tensor x = random.normal({3, 4}, f64), targets = random.uniform({3, 4}, 0, 2, f64);
  const Tensor want = neg(sum(targets * log_softmax(x), -1));
  expect_near(cross_entropy(x, targets, {.reduction = Reduction::none}), want, 1e-14);
  expect_near(cross_entropy(x, targets), mean(want), 1e-14);
}

TEST(CrossEntropy, OfLargeLogits) {
  for (const Dtype dtype : {f32, f64}) {
    const Tensor x = tensor({{1000, -1000}, {1000, -1000}}, dtype);
    const auto loss = [](const Tensor& logits) {
      return cross_entropy(logits, indices({0, 1}), {.reduction = Reduction::none});
    };
    EXPECT_TRUE(same_bits(loss(x), tensor({0.0, 2000.0}, dtype)));
    EXPECT_TRUE(same_bits(gradient_of(x, loss), tensor({{0, 0}, {1, -1}}, dtype)));
    const Tensor near = tensor({{0.25, -1.5, 2.0}}, dtype), far = near + 1e4;  // exact in f32
    const double limit = dtype == f32 ? 1e-3 : 1e-11;
    EXPECT_NEAR(cross_entropy(far, indices({1})).item(), cross_entropy(near, indices({1})).item(), limit);
  }
}

/// A class that a mask excludes does not affect the loss and gets no gradient.
TEST(CrossEntropy, ALogitOfMinusInfinityIsAClassLess) {
  const Tensor x = tensor({{1.0, -infinity, 3.0}}, f64), two = tensor({{1.0, 3.0}}, f64);
  const auto soft = [](const Tensor& logits) { return cross_entropy(logits, tensor({{0.25, 0.0, 0.75}}, f64)); };
  const auto hard = [](const Tensor& logits) { return cross_entropy(logits, indices({2})); };
  EXPECT_NEAR(hard(x).item(), cross_entropy(two, indices({1})).item(), 1e-15);
  EXPECT_NEAR(soft(x).item(), cross_entropy(two, tensor({{0.25, 0.75}}, f64)).item(), 1e-15);
  EXPECT_EQ(gradient_of(x, hard).at({0, 1}), 0);
  EXPECT_EQ(gradient_of(x, soft).at({0, 1}), 0);
}

TEST(Losses, NanInIsNanOut) {
  const Tensor x = tensor({{1, nan, 2}, {1, 2, 3}}, f64), finite = tensor({{1, 2, 3}, {4, 5, 6}}, f64);
  const Tensor losses = cross_entropy(x, indices({0, 0}), {.reduction = Reduction::none});
  EXPECT_TRUE(std::isnan(losses.at({0})));
  EXPECT_FALSE(std::isnan(losses.at({1})));
  for (const Tensor& y :
       {cross_entropy(x, indices({0, 0})), cross_entropy(x, finite), cross_entropy(finite, x), nll(x, indices({1, 0})),
        mse(x, finite), mse(finite, x), smooth_l1(x, finite), huber(finite, x), kl_divergence(x, finite),
        kl_divergence(finite, x), kl_divergence(finite, x, {.log_target = true}), bce_with_logits(x, finite),
        bce_with_logits(finite, x)})
    EXPECT_TRUE(std::isnan(y.item()));
}

TEST(Mse, IsItsFormulaForEveryReduction) {
  const Tensor x = tensor({{1, 2}, {3, -4}}, f64), t = tensor({{0, 2}, {5, 1}}, f64);
  EXPECT_TRUE(same_bits(mse(x, t, Reduction::none), tensor({{1, 0}, {4, 25}}, f64)));
  EXPECT_EQ(mse(x, t, Reduction::sum).item(), 30);
  EXPECT_EQ(mse(x, t).item(), 7.5);
}

TEST(BceWithLogits, IsExactInBothTails) {
  for (const Dtype dtype : {f32, f64}) {
    const Tensor x = tensor({1000.0, 1000.0, -1000.0, -1000.0, 0.0}, dtype),
                 t = tensor({1.0, 0.0, 0.0, 1.0, 0.5}, dtype);
    const auto loss = [&](const Tensor& logits) { return bce_with_logits(logits, t, Reduction::none); };
    expect_near(loss(x), tensor({0.0, 1000.0, 0.0, 1000.0, std::log(2.0)}, dtype), dtype == f32 ? 1e-7 : 1e-15);
    EXPECT_TRUE(same_bits(gradient_of(x, loss), tensor({0.0, 1.0, 0.0, -1.0, 0.0}, dtype)));
  }
  const auto tail = [](double logit, double target) { return bce_with_logits(number(logit), number(target)).item(); };
  EXPECT_NEAR(tail(40, 1) / std::exp(-40.0), 1, 1e-12) << "ln(1 + e^-40) is lost beside 1";
  EXPECT_NEAR(tail(-40, 0) / std::exp(-40.0), 1, 1e-12);
  const auto at_zero = [](const Tensor& x) { return bce_with_logits(x, number(0)); };
  EXPECT_NEAR(slope(at_zero, -40) / std::exp(-40.0), 1, 1e-12);
}

TEST(SmoothL1, IsItsFormulaOnBothSidesOfBeta) {
  const Tensor x = tensor({0.0, 0.25, -0.25, 0.5, -0.5, 3.0, -3.0}, f64), t = zeros({7}, f64);
  const auto loss = [&](const Tensor& at) { return smooth_l1(at, t, 0.5, Reduction::none); };
  EXPECT_TRUE(same_bits(loss(x), tensor({0.0, 0.0625, 0.0625, 0.25, 0.25, 2.75, 2.75}, f64)));
  EXPECT_TRUE(same_bits(gradient_of(x, loss), tensor({0.0, 0.5, -0.5, 1.0, -1.0, 1.0, -1.0}, f64)));
  EXPECT_TRUE(same_bits(huber(x, t, 0.5, Reduction::none), loss(x) * 0.5));
  EXPECT_EQ(smooth_l1(x, t, 0.5, Reduction::sum).item(), 6.125);
  EXPECT_EQ(smooth_l1(x, t, 0.5).item(), 0.875);
}

TEST(SmoothL1, WithBetaZeroIsTheAbsoluteError) {
  const Tensor x = tensor({2.0, 0.0, -3.0}, f64), t = tensor({2.0, 1.0, 1.0}, f64);
  const auto loss = [&](const Tensor& at) { return smooth_l1(at, t, 0, Reduction::none); };
  EXPECT_TRUE(same_bits(loss(x), tensor({0.0, 1.0, 4.0}, f64)));
  EXPECT_TRUE(same_bits(gradient_of(x, loss), tensor({0.0, -1.0, -1.0}, f64)));
}

TEST(SmoothL1, OfErrorsWhoseSquareOverflows) {
  const Tensor x = full({1}, 1e200, f64), t = zeros({1}, f64);
  EXPECT_EQ(smooth_l1(x, t).item(), 1e200);
  EXPECT_EQ(smooth_l1(x, t, 4e200).item(), 1.25e199);
}

TEST(KlDivergence, IsTheDivergenceOfTheRows) {
  Random random(6);
  const Tensor x = log_softmax(random.normal({2, 3, 4}, f64)), t = softmax(random.normal({2, 3, 4}, f64));
  const Tensor terms = t * (log(t) - x);
  expect_near(kl_divergence(x, t, {.reduction = Reduction::none}), terms, 1e-15);
  expect_near(kl_divergence(x, t, {.reduction = Reduction::sum}), sum(terms), 1e-14);
  expect_near(kl_divergence(x, t), mean(sum(terms, -1)), 1e-14);
  expect_near(kl_divergence(x, log(t), {.log_target = true}), kl_divergence(x, t), 1e-14);
  expect_near(kl_divergence(log(t), t), zeros({}, f64), 1e-15);
  expect_near(kl_divergence(x, t) - cross_entropy(x, t), mean(sum(t * log(t), -1)), 1e-14);
}

TEST(KlDivergence, OfProbabilityZeroIsZeroWithZeroGradient) {
  const Tensor x = tensor({-1.0, -infinity, 0.0}, f64);
  for (const bool log_target : {false, true}) {
    const double none = log_target ? -infinity : 0;
    const Tensor t = tensor({none, none, none}, f64);
    const auto of_x = [&](const Tensor& at) { return kl_divergence(at, t, {Reduction::none, log_target}); };
    const auto of_t = [&](const Tensor& at) { return kl_divergence(x, at, {Reduction::none, log_target}); };
    EXPECT_TRUE(same_bits(of_x(x), zeros({3}, f64)));
    EXPECT_EQ(max(abs(gradient_of(x, of_x))).item(), 0);
    EXPECT_TRUE(same_bits(gradient_of(t, of_t), zeros({3}, f64)));
  }
  EXPECT_EQ(kl_divergence(x, tensor({0.0, 1.0, 0.0}, f64)).item(), infinity);
}

TEST(Losses, PairsOfNothing) {
  const Tensor none = zeros({0, 3}, f64);
  EXPECT_EQ(smooth_l1(none, none).item(), 0);
  EXPECT_EQ(kl_divergence(none, none).item(), 0);
  EXPECT_EQ(kl_divergence(zeros({3, 0}, f64), zeros({3, 0}, f64)).item(), 0);
  for (const PairLoss function : {PairLoss(mse), PairLoss(bce_with_logits)}) {
    EXPECT_EQ(function(none, none, Reduction::sum).item(), 0);
    EXPECT_EQ(function(none, none, Reduction::none).shape(), none.shape());
  }
}

TEST(Losses, ARowOfABatchIsThatRowAloneAndThreadsChangeNothing) {
  Random random(5);
  const Tensor x = random.normal({400, 129}, 0, 3, f32), labels = random.integers({400}, 129);
  const auto each = [&](const Tensor& logits) { return cross_entropy(logits, labels, {.reduction = Reduction::none}); };
  const auto loss = [&](const Tensor& logits) { return cross_entropy(logits, labels); };
  const ThreadsScope on_one(1);
  const Tensor rows = each(x), dx = gradient_of(x, loss);
  for (const std::int64_t row : {0, 211, 399}) EXPECT_TRUE(same_bits(rows[row], cross_entropy(x[row], labels[row])));
  const ThreadsScope on_two(2);
  EXPECT_TRUE(same_bits(each(x), rows));
  EXPECT_TRUE(same_bits(gradient_of(x, loss), dx));
}

}  // namespace
}  // namespace retrace

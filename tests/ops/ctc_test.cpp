// ctc against the sum over all paths, one by one; lengths, impossible alignments, long sequences, errors.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include <retrace/core/base/threads_scope.h>
#include <retrace/core/checks/derivatives.h>
#include <retrace/ops/ops.h>
#include <retrace/tests/compare.h>
#include <retrace/tests/ops/error_table.h>
#include <retrace/tests/ops/gradient_support.h>

namespace retrace {
namespace {

using Labels = std::vector<std::int64_t>;

/// What a path reads as.
Labels reading_of(const Labels& path, std::int64_t blank) {
  Labels labels;
  for (std::size_t t = 0; t < path.size(); ++t)
    if (path[t] != blank && (t == 0 || path[t] != path[t - 1])) labels.push_back(path[t]);
  return labels;
}

/// The sum over all paths, and over those that are in each class at each step: by definition.
struct AllPaths {
  double sum = 0;
  Tensor through;

  AllPaths(const Tensor& logp, const Labels& labels, std::int64_t blank) : through(zeros(logp.shape(), f64)) {
    const std::int64_t steps = logp.dim(0), classes = logp.dim(1);
    Labels path(static_cast<std::size_t>(steps), 0);
    for (std::size_t t = 0; t < path.size();) {
      if (reading_of(path, blank) == labels) add(logp, path);
      for (t = 0; t < path.size() && ++path[t] == classes; ++t) path[t] = 0;
    }
  }
  void add(const Tensor& logp, const Labels& path) {
    double p = 1;
    for (std::size_t t = 0; t < path.size(); ++t) p *= std::exp(logp.at({static_cast<std::int64_t>(t), path[t]}));
    sum += p;
    for (std::size_t t = 0; t < path.size(); ++t)
      through.mutable_values<double>()[t * static_cast<std::size_t>(logp.dim(1)) + static_cast<std::size_t>(path[t])] +=
          p;
  }
};

Tensor of_one(const Tensor& logp, const Labels& labels, const CtcOptions& options = {}) {
  const auto count = static_cast<std::int64_t>(labels.size());
  return ctc(logp, indices(std::span<const std::int64_t>(labels), {count}), full({}, logp.dim(0), i64),
             full({}, count, i64), options);
}

/// The gradient of the sum of f at x.
template <class Function> Tensor slopes(const Tensor& x, const Function& f) {
  return vjp([&](const Tensor& at) { return sum(f(at)); }, x, ones({}, x.dtype()));
}

TEST(Ctc, IsTheSumOverAllPathsForEveryLabelling) {
  Random random(1);
  for (const std::int64_t blank : {0, 2})
    for (const std::int64_t steps : {1, 2, 5}) {
      const Tensor logp = random.normal({steps, 3}, f64);  // need not be normalised
      const std::int64_t a = blank == 0 ? 1 : 0, b = blank == 0 ? 2 : 1;
      for (const Labels& labels :
           {Labels{}, Labels{a}, Labels{a, b}, Labels{b, b}, Labels{a, a, b}, Labels{a, b, a, b}}) {
        const AllPaths paths(logp, labels, blank);
        const CtcOptions options{.reduction = Reduction::sum, .blank = blank};
        const std::string what = text(steps, " steps, ", labels.size(), " labels, blank ", blank);
        const Tensor dx = slopes(logp, [&](const Tensor& x) { return of_one(x, labels, options); });
        if (paths.sum == 0) {
          EXPECT_EQ(of_one(logp, labels, options).item(), infinity) << what;
          expect_near(dx, zeros(dx.shape(), f64), 0, what);
        } else {
          EXPECT_NEAR(of_one(logp, labels, options).item(), -std::log(paths.sum), 1e-13) << what;
          expect_near(dx, paths.through / -paths.sum, 1e-13, what);
        }
      }
    }
}

/// Two labels that are equal need a blank between them.
TEST(Ctc, OfTheFewestStepsThatSuffice) {
  const Tensor logp = log_softmax(Random(2).normal({3, 4}, f64));
  EXPECT_NEAR(of_one(logp, {1, 1}).item(), -(logp.at({0, 1}) + logp.at({1, 0}) + logp.at({2, 1})) / 2, 1e-14);
  EXPECT_NEAR(of_one(logp, {3, 1, 2}).item(), -(logp.at({0, 3}) + logp.at({1, 1}) + logp.at({2, 2})) / 3, 1e-14);
  EXPECT_EQ(of_one(slice(logp, {range(0, 2)}), {1, 1}).item(), infinity);
}

TEST(Ctc, OfASampleOfABatchIsThatSampleAlone) {
  Random random(3);
  const Tensor x = random.normal({2, 3, 7, 5}, f64), targets = random.integers({2, 3, 3}, 4) + indices(1);
  const Tensor steps = indices({{7, 6, 5}, {7, 0, 4}}), counts = indices({{3, 1, 2}, {0, 0, 2}});
  const Tensor each = ctc(x, targets, steps, counts, {.reduction = Reduction::none});
  double mean_of_shares = 0;
  for (std::int64_t i = 0; i < 2; ++i)
    for (std::int64_t j = 0; j < 3; ++j) {
      const auto length = static_cast<std::int64_t>(steps.at({i, j})),
                 count = static_cast<std::int64_t>(counts.at({i, j}));
      Labels labels;
      for (std::int64_t k = 0; k < count; ++k) labels.push_back(static_cast<std::int64_t>(targets.at({i, j, k})));
      const Tensor alone = of_one(slice(x[i][j], {range(0, length)}), labels, {.reduction = Reduction::none});
      EXPECT_EQ(each.at({i, j}), alone.item()) << i << ' ' << j;
      mean_of_shares += alone.item() / static_cast<double>(std::max<std::int64_t>(count, 1)) / 6;
    }
  EXPECT_NEAR(ctc(x, targets, steps, counts).item(), mean_of_shares, 1e-14);
  EXPECT_NEAR(ctc(x, targets, steps, counts, {.reduction = Reduction::sum}).item(), sum(each).item(), 1e-13);
}

TEST(Ctc, ReadsNothingAfterTheLengths) {
  Random random(4);
  const Tensor x = random.normal({2, 6, 4}, f64), targets = indices({{1, 2, 3}, {3, 3, 1}});
  const Tensor steps = indices({6, 4}), counts = indices({3, 1});
  const Tensor hidden = masked_fill(x, reshape(indices({0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1}), {2, 6, 1}), nan);
  const Tensor wild = indices({{1, 2, 3}, {3, -7, 99}});
  const auto loss = [&](const Tensor& at, const Tensor& labels) { return ctc(at, labels, steps, counts); };
  EXPECT_EQ(loss(hidden, wild).item(), loss(x, targets).item());
  const Tensor dx = slopes(hidden, [&](const Tensor& at) { return loss(at, wild); });
  EXPECT_TRUE(same_bits(dx, slopes(x, [&](const Tensor& at) { return loss(at, targets); })));
  expect_near(slice(dx, {1, range(4)}), zeros({2, 4}, f64), 0);
  EXPECT_TRUE(std::isnan(loss(full({2, 6, 4}, nan, f64), targets).item()));
}

TEST(Ctc, OfASampleThatCannotBeAlignedIsInfiniteOrZero) {
  for (const Dtype dtype : {f32, f64}) {
    const Tensor x = Random(5).normal({2, 3, 4}, f64).to(dtype), targets = indices({{1, 1, 1}, {1, 2, 0}});
    const Tensor steps = indices({3, 3}), counts = indices({3, 2});
    for (const bool zero : {false, true}) {
      const auto loss = [&](const Tensor& at) {
        return ctc(at, targets, steps, counts, {.reduction = Reduction::none, .zero_infinity = zero});
      };
      EXPECT_EQ(loss(x).at({0}), zero ? 0 : infinity);
      EXPECT_TRUE(std::isfinite(loss(x).at({1})));
      const Tensor dx = slopes(x, loss);
      expect_near(dx[0], zeros({3, 4}, dtype), 0);
      EXPECT_NEAR(sum(dx[1]).item(), -3, 1e-5) << "all paths go somewhere at each step";
    }
  }
  const Tensor certain = tensor({{0.0, -infinity}, {-infinity, 0.0}}, f64);
  EXPECT_EQ(of_one(certain, {1}).item(), 0);
  EXPECT_EQ(of_one(flip(certain, 0), {1}, {.reduction = Reduction::sum}).item(), 0);
  EXPECT_EQ(of_one(certain, {}).item(), infinity) << "its only path has probability 0";
}

/// e^-5000 is far below the smallest number.
TEST(Ctc, OfALongSequenceIsAsExactInF32) {
  Random random(6);
  const Tensor x = random.normal({1500, 30}, 0, 4, f64).to(f32).to(f64);
  const Labels labels(200, 7);
  const auto loss = [&](const Tensor& at) { return of_one(log_softmax(at), labels); };
  const double in_f64 = loss(x).item();
  EXPECT_GT(in_f64 * 200, 5000);
  EXPECT_NEAR(loss(x.to(f32)).item() / in_f64, 1, 1e-6);
  expect_near(slopes(x.to(f32), loss).to(f64), slopes(x, loss), 1e-7);
}

/// Behind log_softmax, the gradient is that of PyTorch: softmax minus the share of the paths.
TEST(Ctc, OfLogitsHasTheGradientOfPyTorch) {
  const Tensor x = Random(7).normal({4, 3}, f64), logp = log_softmax(x);
  const AllPaths paths(logp, {1, 2}, 0);
  const Tensor dx = slopes(x, [](const Tensor& at) { return of_one(log_softmax(at), {1, 2}, {Reduction::sum}); });
  expect_near(dx, exp(logp) - paths.through / paths.sum, 1e-14);
}

TEST(Ctc, OfNothingAndByAnyNumberOfThreads) {
  EXPECT_EQ(ctc(zeros({0, 3, 4}, f64), zeros({0, 2}, i64), zeros({0}, i64), zeros({0}, i64)).item(), 0);
  Random random(8);
  const Tensor x = random.normal({64, 30, 9}, f32), targets = random.integers({64, 8}, 8) + indices(1);
  const auto loss = [&](const Tensor& at) {
    return ctc(at, targets, full({64}, 30, i64), full({64}, 8, i64), {.reduction = Reduction::none});
  };
  const ThreadsScope on_one(1);
  const Tensor y = loss(x), dx = slopes(x, loss);
  const ThreadsScope on_two(2);
  EXPECT_TRUE(same_bits(loss(x), y));
  EXPECT_TRUE(same_bits(slopes(x, loss), dx));
}

TEST(LossErrors, Ctc) {
  expect_refusals({
      {Mistake::shape, [](auto& with) { ctc(with.vector, with.ids, with.ids, with.ids); },
       "ctc: log_probabilities[3], targets[2], input_lengths[2] and target_lengths[2] must be [..., T, C], [..., S], "
       "[...] and [...]; reshape or pad them, batch first"},
      {Mistake::shape, [](auto& with) { ctc(with.cube, with.whole, with.flags, with.ids); },
       "ctc: log_probabilities[2, 2, 3], targets[2, 3], input_lengths[4] and target_lengths[2] must be [..., T, C], "
       "[..., S], [...] and [...]; reshape or pad them, batch first"},
      {Mistake::dtype, [](auto& with) { ctc(with.cube, with.matrix, with.ids, with.ids); },
       "ctc: targets[2, 3] is f64, but labels and lengths are i64; make them with indices() or to(i64)"},
      {Mistake::index, [](auto& with) { ctc(with.cube, with.whole, with.far, with.ids); },
       "ctc: a length of 7 is outside 0 to 2; check input_lengths[2]"},
      {Mistake::index, [](auto& with) { ctc(with.cube, with.whole, with.ids, with.negative); },
       "ctc: a length of -1 is outside 0 to 3; check target_lengths[2]"},
      {Mistake::index, [](auto& with) { ctc(with.cube, with.whole, with.ids, with.ids, {.blank = 3}); },
       "ctc: the blank is 3, but the classes of log_probabilities[2, 2, 3] are 0 to 2"},
      {Mistake::index,
       [](auto& with) {
         ctc(with.cube, with.whole, with.ids, indices({2, 1}));
       },
       "ctc: label 0 at position 1 of targets[2, 3] is the blank; check the labels and target_lengths"},
      {Mistake::index,
       [](auto& with) {
         ctc(with.cube, indices({{1, 0, 0}, {3, 0, 0}}), with.ids, indices({1, 1}));
       },
       "ctc: label 3 at position 3 of targets[2, 3] is outside 0 to 2; check the labels and target_lengths"},
      {Mistake::dtype, [](auto& with) { ctc(with.whole, with.ids, indices(1), indices(1)); },
       needs_real("ctc", "log_probabilities[2, 3]")},
  });
}

}  // namespace
}  // namespace retrace

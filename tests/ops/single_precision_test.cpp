// Losses and ops over rows in f32, beside f64 results of the same numbers: what is lost is the last digits of the
// result, however large the elements of a row are beside their differences.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include <retrace/ops/ops.h>
#include <retrace/tests/compare.h>

namespace retrace {
namespace {

struct RowOp {
  std::string name;
  std::function<Tensor(const Tensor&)> f;
  bool subtracts_a_mean = false;  // which f32 rounds: digits of x are then lost
};

const CrossEntropyOptions each{.reduction = Reduction::none};

Tensor labels() { return indices({3, 7, 11, 0, 32, 5}); }
Tensor soft_targets(Dtype dtype) { return softmax(Random(9).normal({6, 33}, f32), -1).detach().to(dtype); }
Tensor weights(Dtype dtype) { return Random(10).uniform({33}, 0.5, 2, f32).to(dtype); }

std::vector<RowOp> row_ops() {
  using X = const Tensor&;
  return {
      {"cross_entropy", [](X x) { return cross_entropy(x, labels(), each); }},
      {"cross_entropy of the largest", [](X x) { return cross_entropy(x, argmax(x), each); }},
      {"cross_entropy, mean", [](X x) { return cross_entropy(x, labels()); }},
      {"cross_entropy of soft targets", [](X x) { return cross_entropy(x, soft_targets(x.dtype()), each); }},
      {"cross_entropy, smoothed and weighted",
       [](X x) {
         return cross_entropy(
             x, labels(), {.reduction = Reduction::none, .label_smoothing = 0.1, .class_weights = weights(x.dtype())});
       }},
      {"nll of log_softmax", [](X x) { return nll(log_softmax(x), labels(), each); }},
      {"nll, smoothed",
       [](X x) { return nll(log_softmax(x), labels(), {.reduction = Reduction::none, .label_smoothing = 0.1}); }},
      {"kl_divergence",
       [](X x) { return kl_divergence(log_softmax(x), soft_targets(x.dtype()), {.reduction = Reduction::none}); }},
      {"bce_with_logits", [](X x) { return bce_with_logits(x, soft_targets(x.dtype()), Reduction::none); }},
      {"bce_with_logits of 1", [](X x) { return bce_with_logits(x, ones_like(x), Reduction::none); }},
      {"mse", [](X x) { return mse(x, soft_targets(x.dtype()), Reduction::none); }},
      {"smooth_l1", [](X x) { return smooth_l1(x, soft_targets(x.dtype()), 1, Reduction::none); }},
      {"log_softmax", [](X x) { return log_softmax(x); }},
      {"softmax", [](X x) { return softmax(x); }},
      {"logsumexp", [](X x) { return logsumexp(x, -1); }},
      {"sum", [](X x) { return sum(x, -1); }},
      {"mean", [](X x) { return mean(x, -1); }},
      {"norm", [](X x) { return norm(x, -1); }},
      {"cumsum", [](X x) { return cumsum(x); }},
      {"var", [](X x) { return var(x, -1); }, true},
      {"std", [](X x) { return retrace::std(x, -1); }, true},
      {"layer_norm", [](X x) { return layer_norm(x, {}, {}, {.eps = 0}); }, true},
      {"rms_norm", [](X x) { return rms_norm(x); }},
  };
}

struct ValueAndGradient {
  Tensor y, dx;
};
ValueAndGradient run(const RowOp& op, const Tensor& values) {
  const Tensor x = parameter(values);
  Tape tape;
  const Tensor y = op.f(x);
  tape.backward({y}, {Random(7).normal(y.shape(), f32).to(values.dtype())});
  return {y, x.grad()};
}

double largest_of(const Tensor& x) { return max(abs(x.to(f64))).item(); }

TEST(SinglePrecision, OfLossesAndRowsLosesTheLastDigitsOnly) {
  for (const double offset : {0.0, 1e1, 1e2, 1e3, 1e4, 1e6, 1e8})
    for (const double spread : {0.1, 1.0, 10.0, 1000.0})
      for (const RowOp& op : row_ops()) {
        const Tensor x = (Random(5).normal({6, 33}, f64) * spread + offset).to(f32);
        const ValueAndGradient got = run(op, x), want = run(op, x.to(f64));
        const double lost = op.subtracts_a_mean ? 1 + offset / spread : 1, limit = 1e-6 * lost;
        const std::string what = text(op.name, " at ", offset, " with a spread of ", spread);
        if (limit > 0.1) continue;
        constexpr double subnormal = 1e-44;  // the precision of floats near 0
        EXPECT_LE(difference(got.y, want.y), limit * largest_of(want.y) + subnormal) << what;
        EXPECT_LE(difference(got.dx, want.dx), limit * largest_of(want.dx) + subnormal) << what << ", gradient";
      }
}

TEST(SinglePrecision, OfCrossEntropyDependsOnDifferencesOfLogitsOnly) {
  for (const double base : {0.0, 1e4, 1e6, 1e7}) {
    const Tensor x = parameter(tensor({{base, base + 1, base + 2}}, f32));
    Tape tape;
    const Tensor loss = cross_entropy(x, indices({0}));
    EXPECT_NEAR(loss.item(), 2.407606, 1e-6);
    tape.backward(loss);
    expect_near(x.grad(), tensor({{0.0900306 - 1, 0.2447285, 0.6652409}}), 1e-6);
  }
}

TEST(SinglePrecision, OfCrossEntropyKeepsTheLossOfACertainClass) {
  const Tensor x = parameter(tensor({{15.3, 0, 0}}, f32));
  Tape tape;
  const Tensor loss = cross_entropy(x, indices({0}));
  EXPECT_NEAR(loss.item(), 4.5324e-7, 1e-11);
  tape.backward(loss);
  EXPECT_NEAR(x.grad().at({0, 0}), -4.5324e-7, 1e-11);
}

TEST(SinglePrecision, OfEqualLargeLogitsSharesTheGradientOfLogsumexp) {
  const Tensor x = parameter(full({3}, 1e8, f32));
  Tape tape;
  tape.backward(logsumexp(x));
  expect_near(x.grad(), full({3}, 1.0 / 3), 1e-7);
}

}  // namespace
}  // namespace retrace

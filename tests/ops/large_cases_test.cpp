// Rules of every op at a size that splits: fast loops equal the plain ones, no number of threads changes a bit, and a
// row of a batch is that row alone.
#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>
#include <vector>

#include <retrace/core/base/threads_scope.h>
#include <retrace/tests/compare.h>
#include <retrace/tests/ops/large_cases.h>

namespace retrace {
namespace {

const std::vector<LargeCase>& large_cases() {
  static const LargeCases cases;
  return cases.list();
}

std::string name_of(const LargeCase& one) { return one.op + (one.detail.empty() ? "" : " " + one.detail); }

struct LargeRun {
  Tensors y, gradients;
};

/// The inputs of a dtype; those with a row for each of the first are cut to one row, unless it is negative.
Tensors inputs_of(const LargeCase& one, Dtype dtype, std::int64_t row) {
  const std::int64_t rows = one.inputs.front().dim(0);
  Tensors result;
  for (const Tensor& input : one.inputs) {
    const bool is_cut = row >= 0 && input.rank() > 0 && input.dim(0) == rows;
    const Tensor x = is_cut ? slice(input, {range(row, row + 1)}).clone() : input;
    result.push_back(x.dtype() == i64 ? x : parameter(x.to(dtype)));
  }
  return result;
}

LargeRun run(const LargeCase& one, Dtype dtype, const Tensors& cotangents, std::int64_t row = -1) {
  const Tensors inputs = inputs_of(one, dtype, row);
  LargeRun result;
  Tape tape;
  result.y = one.f(inputs);
  Tensors dy;
  for (const Tensor& cotangent : cotangents)
    dy.push_back((row < 0 ? cotangent : slice(cotangent, {range(row, row + 1)})).to(dtype));
  tape.backward(result.y, dy);
  for (const Tensor& x : inputs) result.gradients.push_back(x.dtype() == i64 || !x.has_grad() ? Tensor() : x.grad());
  return result;
}

Tensors cotangents_of(const LargeCase& one) {
  Random random(9);
  Tensors result;
  for (const Tensor& y : one.f(one.inputs)) result.push_back(random.normal(y.shape(), f64));
  return result;
}

void expect_same(const LargeRun& a, const LargeRun& b, const std::string& what) {
  for (std::size_t k = 0; k < a.y.size(); ++k) EXPECT_TRUE(same_bits(a.y[k], b.y[k])) << what << ": result " << k;
  for (std::size_t k = 0; k < a.gradients.size(); ++k) {
    if (!a.gradients[k].defined()) continue;
    EXPECT_TRUE(same_bits(a.gradients[k], b.gradients[k])) << what << ": gradient of input " << k;
  }
}

TEST(LargeCases, AreOfEveryOp) {
  std::set<std::string> tested;
  for (const LargeCase& one : large_cases()) tested.insert(one.op);
#define OP(name, ...) EXPECT_TRUE(tested.contains(#name)) << #name;
#define COMPOSITE(name, ...) OP(name)
#include <retrace/ops/ops.def>
#undef OP
#undef COMPOSITE
}

TEST(LargeCases, HaveTheSameBitsOnAnyNumberOfThreads) {
  for (const LargeCase& one : large_cases())
    for (const Dtype dtype : {f32, f64}) {
      const Tensors dy = cotangents_of(one);
      const auto on_threads = [&](int count) {
        const ThreadsScope scope(count);
        return run(one, dtype, dy);
      };
      const LargeRun alone = on_threads(1);
      for (const int count : {2, 3, 4})
        expect_same(on_threads(count), alone, text(name_of(one), ", ", dtype, ", ", count, " threads"));
    }
}

/// Dual numbers run through the plain loops.
TEST(LargeCases, EqualThePlainLoops) {
  for (const LargeCase& one : large_cases()) {
    const Tensors dy = cotangents_of(one);
    const ThreadsScope scope(3);
    const LargeRun fast = run(one, f64, dy), plain = run(one, dual, dy), single = run(one, f32, dy);
    const auto expect_equal = [&](const Tensor& got, const Tensor& want, double limit, const std::string& what) {
      if (want.numel() == 0 || want.dtype() == i64) return;
      const double size = std::max(1.0, max(abs(want.to(f64))).item());
      expect_near(got, want, limit * size, name_of(one) + what);
    };
    for (std::size_t k = 0; k < fast.y.size(); ++k) {
      expect_equal(fast.y[k], plain.y[k], 1e-12, text(": result ", k));
      if (one.op != "nonzero") expect_equal(single.y[k], plain.y[k], 1e-3, text(": result ", k, " in f32"));
    }
    for (std::size_t k = 0; k < fast.gradients.size(); ++k) {
      if (!fast.gradients[k].defined()) continue;
      expect_equal(fast.gradients[k], plain.gradients[k], 1e-12, text(": gradient ", k));
      expect_equal(single.gradients[k], plain.gradients[k], 1e-3, text(": gradient ", k, " in f32"));
    }
  }
}

TEST(LargeCases, HaveRowsThatEqualThatRowAlone) {
  for (const LargeCase& one : large_cases()) {
    if (!one.rows) continue;
    const std::int64_t rows = one.inputs.front().dim(0);
    const Tensors dy = cotangents_of(one);
    for (const Dtype dtype : {f32, f64}) {
      const LargeRun all_rows = run(one, dtype, dy);
      for (const std::int64_t row : {std::int64_t{0}, rows / 2, rows - 1}) {
        const LargeRun alone = run(one, dtype, dy, row);
        const std::string what = text(name_of(one), ", ", dtype, ", row ", row);
        const auto row_of = [=](const Tensor& x) { return slice(x, {range(row, row + 1)}); };
        for (std::size_t k = 0; k < alone.y.size(); ++k)
          EXPECT_TRUE(same_bits(row_of(all_rows.y[k]), alone.y[k])) << what << ": result " << k;
        for (std::size_t k = 0; k < alone.gradients.size(); ++k) {
          const Tensor& gradient = all_rows.gradients[k];
          if (!gradient.defined() || gradient.rank() == 0 || gradient.dim(0) != rows) continue;
          EXPECT_TRUE(same_bits(row_of(gradient), alone.gradients[k])) << what << ": gradient of input " << k;
        }
      }
    }
  }
}

}  // namespace
}  // namespace retrace

// Arithmetic, reductions and scans of i64, which stay exact and wrap around, and counts of masks.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <vector>

#include <retrace/ops/ops.h>
#include <retrace/tests/compare.h>
#include <retrace/tests/errors.h>
#include <retrace/tests/ops/gradient_support.h>

namespace retrace {
namespace {

using Integers = std::vector<std::int64_t>;
constexpr std::int64_t lowest = std::numeric_limits<std::int64_t>::min(),
                       highest = std::numeric_limits<std::int64_t>::max(), beyond_doubles = (std::int64_t{1} << 53) + 1;

Integers integers_of(const Tensor& x) { return values_of<std::int64_t>(x); }

TEST(Integers, AreReducedExactly) {
  const Tensor x = indices({{beyond_doubles, 2, -7}, {3, 2, 5}});
  EXPECT_EQ(integers_of(sum(x)), Integers{beyond_doubles + 5});
  EXPECT_EQ(integers_of(sum(x, 0)), (Integers{beyond_doubles + 3, 4, -2}));
  EXPECT_EQ(integers_of(sum(x, 1)), (Integers{beyond_doubles - 5, 10}));
  EXPECT_EQ(integers_of(max(x, 1)), (Integers{beyond_doubles, 5}));
  EXPECT_EQ(integers_of(min(x, 0)), (Integers{3, 2, -7}));
  EXPECT_EQ(integers_of(prod(x, 0)), (Integers{3 * beyond_doubles, 4, -35}));
  EXPECT_EQ(integers_of(argmax(x, 1)), (Integers{0, 2}));
  EXPECT_EQ(integers_of(argmin(x, 0)), (Integers{1, 0, 0}));
  EXPECT_EQ(integers_of(sum(indices({highest, 1}))), Integers{lowest}) << "wraps around";
  EXPECT_EQ(integers_of(prod(indices({highest, 2}))), Integers{-2});
  EXPECT_EQ(integers_of(sum(zeros({0}, i64))), Integers{0});
  expect_error<DtypeError>([] { mean(indices({1})); }, needs_real("mean", "x[1]"));
}

TEST(Integers, AreScannedExactly) {
  EXPECT_EQ(integers_of(cumsum(indices({beyond_doubles, 2, -7}))),
            (Integers{beyond_doubles, beyond_doubles + 2, beyond_doubles - 5}));
  EXPECT_EQ(integers_of(cumprod(indices({{2, 3}, {4, -5}}), 0)), (Integers{2, 3, 8, -15}));
}

TEST(Integers, HaveSignsAndOrder) {
  const Tensor a = indices({7, -7, 7, -7, lowest}), b = indices({2, 2, -2, -2, -1});
  EXPECT_EQ(integers_of(remainder(a, b)), (Integers{1, 1, -1, -1, 0}));
  EXPECT_EQ(integers_of(maximum(a, b)), (Integers{7, 2, 7, -2, -1}));
  EXPECT_EQ(integers_of(minimum(a, indices({0}))), (Integers{0, -7, 0, -7, lowest}));
  EXPECT_EQ(integers_of(abs(a)), (Integers{7, 7, 7, 7, lowest}));
  expect_error<ValueError>([&] { remainder(a, zeros({}, i64)); },
                           "remainder: b[] is i64 and holds 0, which divides no integer; replace it, or convert both "
                           "with to(f64)");
}

TEST(Integers, AreClippedToWholeNumbers) {
  const Tensor x = indices({-5, 0, 5, beyond_doubles});
  EXPECT_EQ(integers_of(clip(x, -1, 3)), (Integers{-1, 0, 3, 3}));
  EXPECT_EQ(integers_of(clip(x, 1, infinity)), (Integers{1, 1, 5, beyond_doubles}));
  EXPECT_EQ(integers_of(clip(x, -infinity, infinity)), integers_of(x));
  expect_error<ValueError>([&] { clip(x, 0.5, 2); },
                           "clip: x[4] is i64, which does not hold 0.5; give whole numbers, or convert it with to(f32) "
                           "or to(f64)");
  expect_error<ValueError>([&] { clip(x, infinity, infinity); },
                           "clip: x[4] is i64, which does not hold inf; give whole numbers, or convert it with to(f32) "
                           "or to(f64)");
}

TEST(Counts, OfMasksAndOfAnyTensor) {
  const Tensor x = tensor({{0.0, -1.0, nan}, {0.0, 0.0, 0.0}}, f64), mask = indices({{1, 0}, {1, 1}});
  EXPECT_EQ(integers_of(count_nonzero(x)), Integers{2});
  EXPECT_EQ(integers_of(count_nonzero(x, 1)), (Integers{2, 0}));
  EXPECT_EQ(integers_of(any_nonzero(x, 1)), (Integers{1, 0}));
  EXPECT_EQ(integers_of(all_nonzero(mask, 0)), (Integers{1, 0}));
  EXPECT_EQ(all_nonzero(mask, {0, 1}, {.keepdims = true}).shape(), (Shape{1, 1}));
  const Tensor none = zeros({2, 0});
  EXPECT_EQ(integers_of(any_nonzero(none, 1)), (Integers{0, 0}));
  EXPECT_EQ(integers_of(all_nonzero(none, 1)), (Integers{1, 1}));
}

}  // namespace
}  // namespace retrace

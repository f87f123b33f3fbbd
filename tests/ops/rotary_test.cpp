// rotary: pairs as complex numbers that turn, products that depend on a distance alone, what flows back, and errors.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstdint>
#include <utility>

#include <retrace/core/base/threads_scope.h>
#include <retrace/tests/compare.h>
#include <retrace/tests/ops/error_table.h>
#include <retrace/tests/ops/gradient_support.h>

namespace retrace {
namespace {

/// The place of the first number of pair i of a head of 4 features, and of the second.
std::pair<std::int64_t, std::int64_t> places(RotaryPairs pairs, std::int64_t head, std::int64_t i) {
  return pairs == RotaryPairs::adjacent ? std::pair(4 * head + 2 * i, 4 * head + 2 * i + 1)
                                        : std::pair(4 * head + i, 4 * head + i + 2);
}

/// Expects y to be x with every pair turned by the angle of its step and its place, times `sense`.
void expect_turned(const Tensor& x, const Tensor& y, RotaryPairs pairs, double sense) {
  for (std::int64_t b = 0; b < 2; ++b)
    for (std::int64_t t = 0; t < 3; ++t)
      for (std::int64_t head = 0; head < 2; ++head)
        for (std::int64_t i = 0; i < 2; ++i) {
          const auto [first, second] = places(pairs, head, i);
          const std::complex<double> z(x.at({b, t, first}), x.at({b, t, second}));
          const double angle = static_cast<double>(t + 5) * (i == 0 ? 1 : 0.1);
          const std::complex<double> turned = z * std::polar(1.0, sense * angle);
          EXPECT_NEAR(y.at({b, t, first}), turned.real(), 1e-14);
          EXPECT_NEAR(y.at({b, t, second}), turned.imag(), 1e-14);
        }
}

TEST(Rotary, TurnsPairsAndGradientsBack) {
  Random random(1);
  for (const RotaryPairs pairs : {RotaryPairs::adjacent, RotaryPairs::halves}) {
    const Tensor x = parameter(random.normal({2, 3, 8}, f64)), dy = random.normal({2, 3, 8}, f64);
    const RotaryOptions options{.heads = 2, .first = 5, .base = 100, .pairs = pairs};
    Tape tape;
    const Tensor y = rotary(x, options);
    EXPECT_EQ(tape.records().size(), 1u);
    ASSERT_EQ(y.shape(), x.shape());
    expect_turned(x, y, pairs, 1);
    tape.backward({y}, {dy});
    expect_turned(dy, x.grad(), pairs, -1);
  }
}

/// A second use adds to the gradient that the first one wrote.
TEST(Rotary, GradientsOfSeveralUsesAddUp) {
  Random random(2);
  const Tensor x = parameter(random.normal({3, 4}, f64)), dy = random.normal({3, 4}, f64);
  Tape tape;
  tape.backward({rotary(x), rotary(x, {.first = 1, .pairs = RotaryPairs::halves}), rotary(x)}, {dy, dy, dy});
  const Tensor alone = parameter(x.detach().clone()), other = parameter(x.detach().clone());
  Tape again;
  again.backward({rotary(alone), rotary(other, {.first = 1, .pairs = RotaryPairs::halves})}, {dy, dy});
  expect_near(x.grad(), 2 * alone.grad() + other.grad(), 1e-14);
}

TEST(Rotary, ProductsDependOnTheDistanceOfPositionsAlone) {
  Random random(3);
  const Tensor q = random.normal({1, 6}, f64), k = random.normal({1, 6}, f64);
  const auto product = [&](std::int64_t m, std::int64_t n) {
    return sum(rotary(q, {.first = m}) * rotary(k, {.first = n})).item();
  };
  EXPECT_NEAR(product(7, 3), product(104, 100), 1e-12);
  EXPECT_GT(std::abs(product(7, 3) - product(7, 4)), 1e-3);
}

/// Far more rows than one thread takes at once.
TEST(Rotary, ManyRowsOnTwoThreadsHaveTheSameBits) {
  Random random(4);
  const Tensor x = random.normal({50, 41, 24}, f32);
  const ThreadsScope two(2);
  const Tensor together = rotary(x, {.heads = 3});
  for (const std::int64_t sample : {0, 17, 49})
    EXPECT_TRUE(same_bits(together[sample], rotary(x[sample], {.heads = 3})));
}

/// A step at position m of any order is a step of first = m.
TEST(Rotary, TakesPositionsOfStepsAndOfSamples) {
  Random random(5);
  const Tensor x = random.normal({2, 3, 8}, f64), ids = indices({{4, 0, 9}, {1, 1, 6}});
  for (const RotaryPairs pairs : {RotaryPairs::adjacent, RotaryPairs::halves}) {
    const Tensor each = rotary(x, {.heads = 2, .first = 2, .pairs = pairs, .positions = ids});
    const Tensor same = rotary(x, {.heads = 2, .pairs = pairs, .positions = ids[0]});
    for (std::int64_t b = 0; b < 2; ++b)
      for (std::int64_t t = 0; t < 3; ++t) {
        const Tensor step = x[b][t].detach();
        const auto turned = [&](std::int64_t m) {
          return rotary(reshape(step, {1, 8}), {.heads = 2, .first = m, .pairs = pairs})[0];
        };
        EXPECT_TRUE(same_bits(each[b][t], turned(2 + static_cast<std::int64_t>(ids.at({b, t})))));
        EXPECT_TRUE(same_bits(same[b][t], turned(static_cast<std::int64_t>(ids.at({0, t})))));
      }
  }
}

TEST(Rotary, TakesTablesInPlaceOfABase) {
  Random random(6);
  const Tensor x = random.normal({2, 3, 8}, f64), ids = indices({4, 0, 2});
  const Tensor angles = reshape(arange(0, 5, 1, f64), {5, 1}) * tensor({1.0, 0.1}, f64);
  for (const Dtype dtype : {f32, f64}) {
    const RotaryOptions of_base{.heads = 2, .base = 100, .positions = ids};
    const RotaryOptions of_table{.heads = 2, .positions = ids, .cosines = cos(angles), .sines = sin(angles)};
    expect_near(rotary(x.to(dtype), of_table), rotary(x.to(dtype), of_base), dtype == f32 ? 1e-6 : 1e-14);
  }
  const Tensor mirrored = rotary(ones({1, 2}, f64), {.cosines = tensor({{-3.0}}, f64), .sines = tensor({{0.5}}, f64)});
  expect_near(mirrored, tensor({{-3.5, -2.5}}, f64), 0, "any numbers");
}

TEST(Rotary, TurnsOnlyTheFirstFeaturesOfAHead) {
  Random random(7);
  const Tensor x = random.normal({2, 3, 12}, f64);
  const Tensor heads = reshape(x, {2, 3, 2, 6});
  for (const RotaryPairs pairs : {RotaryPairs::adjacent, RotaryPairs::halves}) {
    const Tensor y = reshape(rotary(x, {.heads = 2, .first = 1, .pairs = pairs, .size = 4}), {2, 3, 2, 6});
    const Tensor first = reshape(slice(heads, {all, all, all, range(0, 4)}), {2, 3, 8});
    EXPECT_TRUE(same_bits(slice(y, {all, all, all, range(4)}), slice(heads, {all, all, all, range(4)})));
    EXPECT_TRUE(same_bits(reshape(slice(y, {all, all, all, range(0, 4)}), {2, 3, 8}),
                          rotary(first, {.heads = 2, .first = 1, .pairs = pairs})));
  }
  EXPECT_TRUE(same_bits(rotary(x, {.heads = 2, .size = 6}), rotary(x, {.heads = 2})));
}

TEST(Rotary, Edges) {
  EXPECT_TRUE(same_values(rotary(ones({1, 2})), ones({1, 2}))) << "position 0 turns nothing";
  EXPECT_EQ(rotary(zeros({2, 0, 4})).shape(), (Shape{2, 0, 4}));
  EXPECT_EQ(rotary(zeros({2, 3, 0})).shape(), (Shape{2, 3, 0}));
  EXPECT_EQ(rotary(zeros({1, 2}, f32)).dtype(), f32);
}

TEST(Rotary, Errors) {
  expect_refusals({
      {Mistake::shape, [](auto& with) { rotary(with.vector); },
       "rotary: x[3] must be [..., time, features]; reshape it"},
      {Mistake::shape, [](auto& with) { rotary(with.matrix); },
       "rotary: 1 heads do not divide the last axis of x[2, 3] into pairs of features; choose heads of an even size"},
      {Mistake::shape, [](auto& with) { rotary(with.weight, {.heads = 2}); },
       "rotary: 2 heads do not divide the last axis of w[4, 2] into pairs of features; choose heads of an even size"},
      {Mistake::shape, [](auto& with) { rotary(with.weight, {.heads = 0}); },
       "rotary: 0 heads do not divide the last axis of w[4, 2] into pairs of features; choose heads of an even size"},
      {Mistake::value, [](auto& with) { rotary(with.weight, {.base = 0}); },
       "rotary: the base is 0; give a positive number"},
      {Mistake::shape, [](auto& with) { rotary(with.square, {.size = 2}); },
       "rotary: 1 heads do not divide the last axis of x[3, 3] into pairs of features; choose heads of an even size"},
      {Mistake::shape, [](auto& with) { rotary(with.weight, {.size = 1}); },
       "rotary: a size of 1 is not an even number of the 2 features of a head of w[4, 2]"},
      {Mistake::shape, [](auto& with) { rotary(with.weight, {.size = 4}); },
       "rotary: a size of 4 is not an even number of the 2 features of a head of w[4, 2]"},
      {Mistake::shape, [](auto& with) { rotary(with.weight, {.positions = with.ids}); },
       "rotary: steps[4] and positions[2] do not broadcast: axis -1 is 4 and 2, but must be equal or 1; reshape or "
       "transpose one of them"},
      {Mistake::shape,
       [](auto& with) {
         rotary(with.weight, {.positions = zeros({2, 4}, i64)});
       },
       "rotary: positions[2, 4] does not broadcast to the steps [4] of w[4, 2]; reshape it"},
      {Mistake::dtype, [](auto& with) { rotary(with.weight, {.positions = with.four}); },
       "rotary: positions[4] is f64, but positions are i64; make them with indices() or to(i64)"},
      {Mistake::value, [](auto& with) { rotary(with.weight, {.cosines = with.four}); },
       "rotary: sines is an undefined tensor (default-constructed or moved from); assign a tensor to it first"},
      {Mistake::shape, [](auto& with) { rotary(with.weight, {.cosines = with.matrix, .sines = with.matrix}); },
       "rotary: cosines[2, 3] and sines[2, 3] must be [positions, 1], a column for each pair of features; reshape "
       "them"},
      {Mistake::index,
       [](auto& with) {
         rotary(with.weight, {.cosines = ones({3, 1}, f64), .sines = ones({3, 1}, f64)});
       },
       "rotary: cosines[3, 1] has no row of position 3; give longer tables or other positions"},
      {Mistake::dtype,
       [](auto&) {
         rotary(zeros({2, 4}, i64));
       },
       needs_real("rotary", "x[2, 4]")},
  });
}

}  // namespace
}  // namespace retrace

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
      {Mistake::dtype,
       [](auto&) {
         rotary(zeros({2, 4}, i64));
       },
       needs_real("rotary", "x[2, 4]")},
  });
}

}  // namespace
}  // namespace retrace

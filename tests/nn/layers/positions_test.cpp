// Positions, by hand: sinusoidal and learned ones, the slopes and biases of ALiBi.
#include <retrace/nn/layers/positions.h>

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <retrace/nn/nn.h>
#include <retrace/tests/compare.h>
#include <retrace/tests/errors.h>

namespace retrace {
namespace {

class Positions : public testing::Test {
 protected:
  DtypeScope doubles{f64};
  Random random{1};
};

TEST_F(Positions, SinusoidalOnesAreThePapersFormula) {
  const Tensor p = sinusoidal_positions(3, 4);
  ASSERT_EQ(p.shape(), (Shape{3, 4}));
  for (int t = 0; t < 3; ++t) {
    EXPECT_NEAR(p.at({t, 0}), std::sin(t), 1e-15);
    EXPECT_NEAR(p.at({t, 1}), std::cos(t), 1e-15);
    EXPECT_NEAR(p.at({t, 2}), std::sin(t / 100.0), 1e-15);
    EXPECT_NEAR(p.at({t, 3}), std::cos(t / 100.0), 1e-15);
  }
  EXPECT_NEAR(sinusoidal_positions(1, 3, 5).at({0, 2}), std::sin(5 / std::pow(10000, 2.0 / 3)), 1e-15);
  EXPECT_TRUE(same_bits(sinusoidal_positions(2, 4, 1), slice(p, {range(1)})));
  EXPECT_EQ(sinusoidal_positions(2, 2, 0, f32).dtype(), f32);
  EXPECT_EQ(sinusoidal_positions(0, 4).shape(), (Shape{0, 4}));
}

TEST_F(Positions, ModulesAddThemToEveryStep) {
  const Tensor x = random.normal({2, 3, 4});
  EXPECT_LT(difference(SinusoidalPositions()(x, 7) - x, broadcast_to(sinusoidal_positions(3, 4, 7), {2, 3, 4})), 1e-15);
  const LearnedPositions learned(5, 4, random);
  EXPECT_LT(difference(learned(x, 2) - x, broadcast_to(slice(learned.weight, {range(2, 5)}), {2, 3, 4})), 1e-15);
  EXPECT_NEAR(deviation_of(LearnedPositions(100, 100, random).weight), 0.02, 0.001);
  EXPECT_EQ(message_of<IndexError>([&] { learned(x, 3); }),
            "LearnedPositions: x[2, 3, 4] has 3 steps from position 3 on, but 5 positions were learned; take a larger "
            "`longest`");
  EXPECT_EQ(message_of<ShapeError>([&] {
              learned(zeros({3, 5}));
            }),
            "LearnedPositions: x[3, 5] must be [..., time, 4]; reshape it");
  EXPECT_THROW(learned(x, -1), IndexError);
  EXPECT_THROW(learned(x, std::numeric_limits<std::int64_t>::max()), IndexError);
  EXPECT_THROW(SinusoidalPositions()(zeros({3})), ShapeError);
  EXPECT_THROW(sinusoidal_positions(-1, 2), ShapeError);
  EXPECT_THROW(sinusoidal_positions(1, 2, 0, i64), DtypeError);
}

TEST_F(Positions, SlopesAreThoseOfThePaper) {
  EXPECT_TRUE(
      same_values(alibi_slopes(8), tensor({0.5, 0.25, 0.125, 0.0625, 1 / 32.0, 1 / 64.0, 1 / 128.0, 1 / 256.0})));
  EXPECT_LT(difference(alibi_slopes(1), tensor({1 / 256.0})), 1e-18);
  // 6 heads: the 4 of n = 4, then the first and third of n = 8.
  EXPECT_TRUE(same_values(alibi_slopes(6), tensor({0.25, 1 / 16.0, 1 / 64.0, 1 / 256.0, 0.5, 0.125})));
  EXPECT_EQ(message_of([] { alibi_slopes(0); }), "alibi_slopes: 0 heads; at least one is needed");
}

TEST_F(Positions, BiasesFallWithTheDistance) {
  const Tensor bias = alibi_bias(2, 2, 3);  // slopes 1/16 and 1/256; the queries stand at 1 and 2
  EXPECT_TRUE(same_values(bias[0] * 16.0, tensor({{-1, 0, -1}, {-2, -1, 0}})));
  EXPECT_TRUE(same_values(bias[1] * 256.0, tensor({{-1, 0, -1}, {-2, -1, 0}})));
  EXPECT_THROW(alibi_bias(2, -1, 3), ShapeError);
}

}  // namespace
}  // namespace retrace

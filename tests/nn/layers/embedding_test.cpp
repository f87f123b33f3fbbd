// Embedding: the row of the padding stays 0.
#include <retrace/nn/nn.h>
#include <retrace/tests/compare.h>
#include <retrace/tests/errors.h>

#include <gtest/gtest.h>

namespace retrace {
namespace {

TEST(Embedding, KeepsTheRowOfThePaddingAtZero) {
  for (const std::int64_t padding : {1, -3}) {
    Random random(1);
    const Embedding embed(4, 3, random, {.padding_idx = padding}), plain = [] {
      Random same(1);
      return Embedding(4, 3, same);
    }();
    EXPECT_TRUE(same_bits(embed.weight[1], zeros({3})));
    for (const std::int64_t row : {0, 2, 3}) EXPECT_TRUE(same_bits(embed.weight[row], plain.weight[row]));
    Adam adam(embed, {.lr = 0.1});
    for (int step = 0; step < 3; ++step) {
      Tape tape;
      tape.backward(sum(embed(indices({{0, 1}, {2, 1}}))));
      adam.step();
    }
    EXPECT_TRUE(same_bits(embed.weight[1], zeros({3})));
    EXPECT_FALSE(same_bits(embed.weight[2], plain.weight[2]));
    EXPECT_TRUE(same_bits(clone(embed)(indices(1)), zeros({3})));
  }
}

TEST(Embedding, RefusesAPaddingThatIsNoRow) {
  Random random(2);
  expect_error<IndexError>([&] { Embedding(4, 3, random, {.padding_idx = 4}); },
                           "Embedding: padding_idx 4 is no row of weight[4, 3]; choose one from -4 to 3");
}

}  // namespace
}  // namespace retrace

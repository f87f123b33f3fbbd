// Attention saves its weights only where they are smaller than its inputs: they decide the memory that training takes.
#include <gtest/gtest.h>

#include <retrace/core/random.h>
#include <retrace/core/record.h>
#include <retrace/core/tape.h>
#include <retrace/ops/ops.h>

namespace retrace {
namespace {

TEST(SavedValues, LongAttentionSavesNoWeights) {
  const auto keeps_weights = [](std::int64_t length, bool packed) {
    Random random(6);
    const Tensor x = parameter(random.normal({length, 6}));
    Tape tape;
    if (packed)
      packed_attention(x, {.heads = 1, .key_size = 2});
    else
      attention(x, x, x);
    const Record& record = *tape.records().back();
    return static_cast<bool>(record.saved(record.saved_values() - 1));
  };
  for (const bool packed : {false, true}) {
    EXPECT_TRUE(keeps_weights(20, packed));
    EXPECT_FALSE(keeps_weights(300, packed));
  }
}

/// A tile of few queries is no larger than its inputs.
TEST(SavedValues, TheWeightsOfFewQueriesAndOfFewKeysAreSaved) {
  const auto saved_weights = [](std::int64_t queries, std::int64_t keys) {
    const Tensor q = parameter(ones({queries, 4})), k = ones({keys, 4});
    Tape tape;
    attention(q, k, k);
    return static_cast<bool>(tape.records().back()->saved(3));
  };
  EXPECT_TRUE(saved_weights(1, 40000));
  EXPECT_TRUE(saved_weights(24, 2000));
  EXPECT_FALSE(saved_weights(25, 2000));
  EXPECT_TRUE(saved_weights(5000, 8));
  EXPECT_FALSE(saved_weights(5000, 9));
}

}  // namespace
}  // namespace retrace

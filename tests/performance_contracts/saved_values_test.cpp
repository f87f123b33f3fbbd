// What ops save decides the memory that training takes. Attention saves its weights only where they are smaller than
// its inputs, relu a bit per element.
#include <gtest/gtest.h>

#include <retrace/core/tape/record.h>
#include <retrace/core/tape/tape.h>
#include <retrace/core/tensor/random.h>
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

TEST(SavedValues, ReluSavesABitOfEachElement) {
  for (const Dtype dtype : {f32, f64}) {
    const Tensor x = parameter(ones({32, 512}, dtype));
    Tape tape;
    relu(x);
    const SavedValue& bits = tape.records().back()->saved(0);
    EXPECT_EQ(8 * static_cast<std::size_t>(bits.numel()) * size_of(bits.dtype()), 32u * 512u);
  }
}

}  // namespace
}  // namespace retrace

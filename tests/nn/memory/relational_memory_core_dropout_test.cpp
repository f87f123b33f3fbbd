// Dropout in the relational memory core: where it falls, and that nothing falls in evaluation.
#include <retrace/nn/memory/relational_memory_core.h>

#include <retrace/tests/errors.h>
#include <retrace/tests/nn/memory/memory_test.h>

namespace retrace {
namespace {

using RelationalMemoryCoreDropout = MemoryTest;

TEST_F(RelationalMemoryCoreDropout, IsOffWithoutAGenerator) {
  Random weights(3), same_weights(3);
  const RelationalMemoryCore plain(5, weights, {.slots = 3, .head_size = 4, .heads = 2});
  const RelationalMemoryCore dropping(5, same_weights, {.slots = 3, .head_size = 4, .heads = 2, .dropout = 0.5});
  const Tensor x = random.normal({2, 5}), memory = random.normal({2, 3, 8});
  EXPECT_EQ(difference(dropping(memory, x).memory, plain(memory, x).memory), 0);
  Random masks(1), same_masks(1), other_masks(2);
  const Tensor dropped = dropping(memory, x, &masks).memory;
  EXPECT_GT(difference(dropped, plain(memory, x).memory), 1e-3);
  EXPECT_EQ(difference(dropping(memory, x, &same_masks).memory, dropped), 0);
  EXPECT_GT(difference(dropping(memory, x, &other_masks).memory, dropped), 1e-3);
  EXPECT_EQ(difference(dropping(memory, x, &masks).weights, plain(memory, x).weights), 0) << "those before dropout";
}

/// If all is dropped, neither attention nor MLP adds to the rows.
TEST_F(RelationalMemoryCoreDropout, FallsOnAllThatIsAddedToTheRows) {
  const RelationalMemoryCore core(5, random,
                                  {.slots = 3,
                                   .head_size = 4,
                                   .heads = 2,
                                   .blocks = 2,
                                   .layer_norm = false,
                                   .gate = MemoryGate::none,
                                   .dropout = 1});
  const Tensor memory = random.normal({2, 3, 8});
  EXPECT_EQ(difference(core(memory, random.normal({2, 5}), &random).memory, memory), 0);
}

/// m = dropout(dropout(softmax(q k^T / sqrt(d))) v), composed for one block without all other parts.
TEST_F(RelationalMemoryCoreDropout, FallsOnAttentionWeights) {
  for (const int heads : {1, 2}) {
    const RelationalMemoryCore core(5, random,
                                    {.slots = 3,
                                     .head_size = 4,
                                     .heads = heads,
                                     .key_size = 4,
                                     .mlp_layers = 0,
                                     .residual = false,
                                     .layer_norm = false,
                                     .gate = MemoryGate::none,
                                     .dropout = 0.4});
    const Tensor x = random.normal({2, 5}), memory = random.normal({2, 3, 4 * heads});
    Random masks(4), same_masks(4);
    const Tensor rows = concat({memory, unsqueeze(core.input(x), 1)}, 1);
    const Tensor qkv = split_heads(core.blocks.front().qkv(rows), heads);
    const Tensor q = slice(qkv, {all, all, range(0, 3), range(0, 4)}), k = slice(qkv, {all, all, all, range(4, 8)});
    const Tensor weights = softmax(matmul(q, transpose(k)) / 2);
    const Tensor attended = matmul(dropout(weights, 0.4, &same_masks), slice(qkv, {all, all, all, range(8, 12)}));
    const Tensor expected = dropout(combine_heads(attended), 0.4, &same_masks);
    expect_near(core(memory, x, &masks).memory, expected, 1e-12);
  }
}

TEST_F(RelationalMemoryCoreDropout, RefusesAProbabilityAboveOne) {
  EXPECT_EQ(message_of<ValueError>([&] { RelationalMemoryCore(5, random, {.dropout = 1.5}); }),
            "RelationalMemoryCore: the probability of dropout 1.5 must lie from 0 to 1");
}

}  // namespace
}  // namespace retrace

// The checks that came with the original programs (attention, relational memory, relational recurrent network, LSTM
// baseline), with the numbers that they were meant to have. Each says whose it is.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <retrace/models/relational_rnn.h>
#include <retrace/nn/nn.h>

namespace retrace {
namespace {

double difference(const Tensor& a, const Tensor& b) {
  EXPECT_EQ(a.shape(), b.shape());
  return max(abs(a - b)).item();
}

bool all_finite(const Tensor& x) {
  return std::ranges::all_of(x.values<double>(), [](double value) { return std::isfinite(value); });
}

double deviation_of(const Tensor& x) { return std::sqrt(var(x).item()); }

/// One seed for all of them, as there.
class OriginalTest : public testing::Test {
 protected:
  DtypeScope doubles{f64};
  Random random{42};
};
using OriginalAttention = OriginalTest;
using OriginalRelationalMemory = OriginalTest;
using OriginalLstm = OriginalTest;
using OriginalRelationalRNN = OriginalTest;
using OriginalDemo = OriginalTest;

// ---- attention: batch 2, length 5, keys of 8; 64 features in 4 heads

TEST_F(OriginalAttention, ScaledDotProductRowsSumToOne) {
  const Tensor q = random.normal({2, 5, 8}), k = random.normal({2, 5, 8}), v = random.normal({2, 5, 8});
  const auto [y, weights] = attention_with_weights(q, k, v);
  EXPECT_EQ(y.shape(), (Shape{2, 5, 8}));
  ASSERT_EQ(weights.shape(), (Shape{2, 5, 5}));
  EXPECT_LT(difference(sum(weights, -1), ones({2, 5})), 1e-6);
  EXPECT_GE(min(weights).item(), 0);
  const Tensor scores = matmul(q, k, {.transpose_b = true}) / std::sqrt(8.0);
  EXPECT_LT(difference(y, matmul(softmax(scores), v)), 1e-12);
}

TEST_F(OriginalAttention, CausalMaskIsZeroUpToTheDiagonalAndMinusInfinityAbove) {
  const Tensor mask = causal_mask(5);
  for (std::int64_t i = 0; i < 5; ++i)
    for (std::int64_t j = 0; j < 5; ++j)
      EXPECT_EQ(mask.at({i, j}), j <= i ? 0 : -std::numeric_limits<double>::infinity());
}

TEST_F(OriginalAttention, CausalWeightsOfTheFutureAreZero) {
  const Tensor x = random.normal({2, 5, 8});
  const Tensor weights = attention_with_weights(x, x, x, {.mask = causal_mask(5)}).weights;
  for (std::int64_t b = 0; b < 2; ++b)
    for (std::int64_t i = 0; i < 5; ++i)
      for (std::int64_t j = i + 1; j < 5; ++j) EXPECT_LT(weights.at({b, i, j}), 1e-6);
  EXPECT_LT(difference(sum(weights, -1), ones({2, 5})), 1e-6);
  EXPECT_NEAR(weights.at({0, 0, 0}), 1, 1e-12);
}

TEST_F(OriginalAttention, MultiHeadAttentionWithEveryNumberOfHeads) {
  const Tensor q = random.normal({2, 5, 64}), k = random.normal({2, 5, 64}), v = random.normal({2, 5, 64});
  for (const int heads : {1, 2, 4, 8}) {
    const MultiHeadAttention mha(64, random, {.heads = heads});
    const AttentionResult result = mha(q, k, v);
    EXPECT_EQ(result.y.shape(), (Shape{2, 5, 64}));
    ASSERT_EQ(result.weights.shape(), (Shape{2, heads, 5, 5}));
    EXPECT_LT(difference(sum(result.weights, -1), ones({2, heads, 5})), 1e-6);
    EXPECT_TRUE(all_finite(result.y));
  }
  EXPECT_THROW(MultiHeadAttention(64, random, {.heads = 5}), ShapeError);
}

TEST_F(OriginalAttention, SelfAttentionIsQueriesKeysAndValuesOfOneTensor) {
  const MultiHeadAttention mha(64, random, {.heads = 4});
  const Tensor x = random.normal({2, 5, 64});
  EXPECT_EQ(difference(mha(x).y, mha(x, x, x).y), 0);
}

TEST_F(OriginalAttention, MasksOfTwoAndThreeAxes) {
  const MultiHeadAttention mha(64, random, {.heads = 4});
  const Tensor x = random.normal({2, 5, 64}), mask = causal_mask(5);
  const AttentionResult shared = mha(x, mask), per_sample = mha(x, stack({mask, mask}));
  const AttentionResult of_one = mha(x, unsqueeze(mask, 0));
  EXPECT_EQ(difference(shared.y, per_sample.y), 0);
  EXPECT_EQ(difference(shared.y, of_one.y), 0) << "a batch of one mask serves every sample";
  for (std::int64_t i = 0; i < 5; ++i)
    for (std::int64_t j = i + 1; j < 5; ++j) EXPECT_LT(max(slice(per_sample.weights, {all, all, i, j})).item(), 1e-6);
  EXPECT_THROW(mha(x, zeros({4})), ShapeError);
}

TEST_F(OriginalAttention, WeightsBeginAsLargeAsTheRootOfOneOverTheSize) {
  const double expected = std::sqrt(1.0 / 64);
  const CellMemory memory(64, random);
  const RelationalMemory gated(64, random);
  const MultiHeadAttention mha(64, random);
  for (const Tensor& w :
       {Tensor(memory.w_q), Tensor(memory.w_k), Tensor(memory.w_v), Tensor(memory.w_o), Tensor(gated.w_q),
        Tensor(gated.w_k), Tensor(gated.w_v), Tensor(gated.w_o), Tensor(mha.query.weight), Tensor(mha.out.weight)}) {
    EXPECT_EQ(w.shape(), (Shape{64, 64}));
    EXPECT_GT(deviation_of(w), 0.5 * expected);
    EXPECT_LT(deviation_of(w), 2 * expected);
  }
}

// ---- relational memory: batch 2, inputs of 32

TEST_F(OriginalRelationalMemory, LayerNormHasZeroMeanAndUnitDeviation) {
  const Tensor x = random.normal({2, 4, 64}) * 2 + 3, y = layer_norm(x, {}, {}, {.eps = 1e-6});
  EXPECT_LT(difference(mean(y, -1), zeros({2, 4})), 1e-6);
  EXPECT_LT(difference(sqrt(var(y, -1)), ones({2, 4})), 1e-6);
}

TEST_F(OriginalRelationalMemory, LayerNormWithGammaTwoAndBetaOneHalf) {
  const Tensor x = random.normal({2, 4, 64}) * 2 + 3;
  const Tensor y = layer_norm(x, full({64}, 2), full({64}, 0.5), {.eps = 1e-6});
  EXPECT_LT(difference(mean(y, -1), full({2, 4}, 0.5)), 1e-6);
  EXPECT_LT(difference(sqrt(var(y, -1)), full({2, 4}, 2)), 2e-6);
}

TEST_F(OriginalRelationalMemory, TheGateMixesOldAndNew) {
  const Tensor old = zeros({2, 4, 64}), next = ones({2, 4, 64});
  const Tensor y = gated_update(old, next, random.normal({128, 64}, 0, 0.1));
  EXPECT_EQ(y.shape(), old.shape());
  EXPECT_GT(min(y).item(), 0);
  EXPECT_LT(max(y).item(), 1);
  EXPECT_EQ(difference(gated_update(old, next), next), 0) << "without a gate";
}

TEST_F(OriginalRelationalMemory, TheInitialMemoryIsSmallAndNotConstant) {
  const Tensor memory = init_memory(2, 4, 64, random);
  EXPECT_EQ(memory.shape(), (Shape{2, 4, 64}));
  EXPECT_GT(deviation_of(memory), 0.05);
  EXPECT_LT(deviation_of(memory), 0.2);
}

TEST_F(OriginalRelationalMemory, RunsInEveryConfiguration) {
  for (const auto& [slots, size, heads] : {std::array{4, 64, 2}, {8, 64, 4}, {4, 128, 8}, {16, 32, 2}}) {
    const RelationalMemory memory(32, random, {.slots = slots, .slot_size = size, .heads = heads});
    const RelationalMemoryResult result = memory(memory.reset_memory(2, random), random.normal({2, 32}));
    EXPECT_EQ(result.memory.shape(), (Shape{2, slots, size}));
    ASSERT_EQ(result.weights.shape(), (Shape{2, heads, slots, slots}));
    EXPECT_LT(difference(sum(result.weights, -1), ones({2, heads, slots})), 1e-6);
    EXPECT_TRUE(all_finite(result.memory));
  }
}

TEST_F(OriginalRelationalMemory, AnInputChangesTheMemory) {
  const RelationalMemory memory(32, random, {.slots = 4, .heads = 2});
  const Tensor begin = memory.reset_memory(2, random), x = random.normal({2, 32});
  EXPECT_GT(difference(memory(begin, x).memory, memory(begin).memory), 1e-3);
  EXPECT_GT(difference(memory(begin, x).memory, memory(begin, random.normal({2, 32})).memory), 1e-3);
}

TEST_F(OriginalRelationalMemory, TheMemoryEvolvesOverSteps) {
  const RelationalMemory memory(32, random, {.slots = 4, .heads = 2});
  Tensor now = memory.reset_memory(2, random);
  for (int step = 0; step < 5; ++step) {
    const Tensor next = memory(now, random.normal({2, 32})).memory;
    EXPECT_GT(difference(next, now), 1e-3) << "step " << step;
    EXPECT_TRUE(all_finite(next));
    now = next;
  }
}

TEST_F(OriginalRelationalMemory, WithoutAGateTheMemoryIsReplaced) {
  const RelationalMemory memory(32, random, {.slots = 4, .heads = 2, .gate = false});
  const Tensor begin = memory.reset_memory(2, random), x = random.normal({2, 32});
  const RelationalMemoryResult result = memory(begin, x);
  EXPECT_FALSE(result.gates.defined());
  EXPECT_LT(difference(mean(result.memory, -1), zeros({2, 4})), 1e-6) << "what the last layer norm gave";
}

// ---- LSTM: batch 2, length 10, 32 inputs, 64 hidden, 16 outputs

TEST_F(OriginalLstm, OrthogonalMatricesTimesTheirTransposeAreTheIdentity) {
  const Tensor u = orthogonal(64, 64, random);
  EXPECT_LT(difference(matmul(u, u, {.transpose_b = true}), eye(64)), 1e-5);
  const Tensor wide = orthogonal(3, 7, random), tall = orthogonal(7, 3, random, 2);
  EXPECT_LT(difference(matmul(wide, wide, {.transpose_b = true}), eye(3)), 1e-5);
  EXPECT_LT(difference(matmul(tall, tall, {.transpose_a = true}), 4 * eye(3)), 1e-5) << "a gain of 2";
  const LstmCell cell(32, 64, random);
  for (const Tensor& gate : split(cell.weight_hh, {64, 64, 64, 64}))
    EXPECT_LT(difference(matmul(gate, gate, {.transpose_b = true}), eye(64)), 1e-5);
}

TEST_F(OriginalLstm, TheForgetBiasIsOneAndTheOthersAreZero) {
  const LstmCell cell(32, 64, random);
  EXPECT_EQ(difference(cell.bias, concat({zeros({64}), ones({64}), zeros({128})})), 0);
}

TEST_F(OriginalLstm, GivesEveryStateAndTheLastOne) {
  const Lstm lstm(32, 64, random);
  const Linear out(64, 16, random);
  const LstmResult result = lstm(random.normal({2, 10, 32}));
  EXPECT_EQ(out(result.y).shape(), (Shape{2, 10, 16}));
  EXPECT_EQ(out(result.state.h).shape(), (Shape{2, 16}));
  EXPECT_EQ(result.state.c.shape(), (Shape{2, 64}));
  EXPECT_EQ(difference(slice(result.y, {all, 9}), result.state.h), 0);
  EXPECT_TRUE(all_finite(result.y));
}

TEST_F(OriginalLstm, HasTheParametersThatItsFormulaCounts) {
  EXPECT_EQ(count_parameters(Lstm(32, 64, random)), 24832);
  EXPECT_EQ(count_parameters(Linear(64, 16, random)), 1040);
  EXPECT_EQ(count_parameters(Lstm(5, 32, random)) + count_parameters(Linear(32, 2, random)), 4930);
}

// ---- relational recurrent network: batch 2, length 10, 32 inputs, 64 hidden, 16 outputs, 4 slots of 64, 2 heads

TEST_F(OriginalRelationalRNN, TheCellMemoryKeepsItsShapeAndChangesWithAndWithoutAnInput) {
  const CellMemory memory(32, random);
  const Tensor begin = random.normal({2, 4, 64}, 0, 0.1);
  const Tensor alone = memory(begin).memory, fed = memory(begin, random.normal({2, 32})).memory;
  EXPECT_EQ(alone.shape(), begin.shape());
  EXPECT_GT(difference(alone, begin), 1e-3);
  EXPECT_GT(difference(fed, alone), 1e-3);
}

TEST_F(OriginalRelationalRNN, TheCellGivesAnAnswerAndItsState) {
  const RelationalRNNCell cell(32, 64, random);
  RelationalState state = cell.initial_state(2);
  for (int step = 0; step < 5; ++step) {
    RelationalResult next = cell(random.normal({2, 32}), state);
    EXPECT_EQ(next.y.shape(), (Shape{2, 64}));
    EXPECT_EQ(next.state.lstm.h.shape(), (Shape{2, 64}));
    EXPECT_EQ(next.state.lstm.c.shape(), (Shape{2, 64}));
    ASSERT_EQ(next.state.memory.shape(), (Shape{2, 4, 64}));
    EXPECT_GT(difference(next.state.memory, state.memory), 1e-3) << "step " << step;
    EXPECT_LE(max(abs(next.y)).item(), 1) << "a tanh";
    state = std::move(next.state);
  }
}

TEST_F(OriginalRelationalRNN, GivesEveryAnswerTheLastOneAndTheState) {
  const RelationalRNN network(32, 64, 16, random);
  const Tensor x = random.normal({2, 10, 32});
  const RelationalResult whole = network(x), last = network.last(x);
  EXPECT_EQ(whole.y.shape(), (Shape{2, 10, 16}));
  ASSERT_EQ(last.y.shape(), (Shape{2, 16}));
  EXPECT_LT(difference(last.y, slice(whole.y, {all, 9})), 1e-12);
  EXPECT_EQ(difference(last.state.lstm.h, whole.state.lstm.h), 0);
  EXPECT_EQ(difference(last.state.lstm.c, whole.state.lstm.c), 0);
  EXPECT_EQ(difference(last.state.memory, whole.state.memory), 0);
  EXPECT_TRUE(all_finite(whole.y));
}

TEST_F(OriginalRelationalRNN, TheNetworkIsItsCellStepByStep) {
  const RelationalRNN network(5, 8, 3, random, {.slots = 3, .slot_size = 6, .heads = 2});
  const Tensor x = random.normal({2, 7, 5}), y = network(x).y;
  RelationalState state = network.cell.initial_state(2);
  for (std::int64_t t = 0; t < 7; ++t) {
    RelationalResult next = network.cell(at_step(x, t), state);
    EXPECT_LT(difference(network.out(next.y), at_step(y, t)), 1e-12) << "step " << t;
    state = std::move(next.state);
  }
}

TEST_F(OriginalRelationalRNN, HasTheParametersThatItsFormulaCounts) {
  EXPECT_EQ(count_parameters(RelationalRNN(5, 32, 2, random, {.slots = 4, .slot_size = 32, .heads = 2})), 15298);
}

// ---- the demonstration

TEST_F(OriginalDemo, LstmAndRelationalNetworkAnswerInOneShapeAndDiffer) {
  const Lstm lstm(32, 64, random);
  const Linear out(64, 16, random);
  const Tensor x = random.normal({2, 10, 32});
  EXPECT_GT(difference(out(lstm(x).y), RelationalRNN(32, 64, 16, random)(x).y), 1e-2);
}

/// Batch 1, 15 steps of noise of 0.1, five times as loud from the middle on. The slots' norms differ by the variance
/// that the original asks for; no two slots are equal, though all but the first forget by half a step how they began.
TEST_F(OriginalDemo, SlotsBecomeDifferentOverALongSequence) {
  const RelationalRNN network(32, 64, 16, random);
  const Tensor noise = random.normal({1, 15, 32}, 0, 0.1);
  const Tensor loud = concat({slice(noise, {all, range(0, 7)}), 5 * slice(noise, {all, range(7)})}, 1);
  const Tensor memory = network(loud).state.memory;
  EXPECT_GT(var(norm(memory, -1)).item(), 0.01);
  for (std::int64_t i = 0; i < 4; ++i)
    for (std::int64_t j = 0; j < i; ++j)
      EXPECT_GT(difference(slice(memory, {all, i}), slice(memory, {all, j})), 1e-7) << i << ", " << j;
}

/// Batch 1, 8 inputs, 16 hidden, 3 slots of 16, 1 head: h, c and the memory all move at every one of 3 steps.
TEST_F(OriginalDemo, LstmAndMemoryBothMoveAtEveryStep) {
  const RelationalRNNCell cell(8, 16, random, {.slots = 3, .slot_size = 16, .heads = 1});
  RelationalState state = cell.initial_state(1);
  for (int step = 0; step < 3; ++step) {
    RelationalState next = cell(0.5 * random.normal({1, 8}), state).state;
    EXPECT_GT(norm(next.lstm.h - state.lstm.h).item(), 1e-2);
    EXPECT_GT(norm(next.lstm.c - state.lstm.c).item(), 1e-2);
    EXPECT_GT(norm(next.memory - state.memory).item(), 1e-2);
    state = std::move(next);
  }
}

TEST_F(OriginalDemo, AnyNumberOfSlotsWorks) {
  for (const std::int64_t slots : {1, 2, 4, 8}) {
    const RelationalRNN network(32, 64, 16, random, {.slots = slots});
    const RelationalResult result = network(random.normal({2, 10, 32}));
    EXPECT_EQ(result.y.shape(), (Shape{2, 10, 16}));
    EXPECT_EQ(result.state.memory.shape(), (Shape{2, slots, 64}));
    EXPECT_TRUE(all_finite(result.y));
  }
}

}  // namespace
}  // namespace retrace

// The original programs' checks of the LSTM baseline and of the relational recurrent network, and their demonstration.
#include <retrace/tests/models/networks/original_test.h>

#include <retrace/models/networks/relational_rnn.h>

namespace retrace {
namespace {

using OriginalLstm = OriginalTest;
using OriginalRelationalRNN = OriginalTest;
using OriginalDemo = OriginalTest;

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
/// that the original requires; no two slots are equal, although all except the first halve their initial value per
/// step.
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

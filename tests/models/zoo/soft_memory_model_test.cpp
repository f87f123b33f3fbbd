// SoftMemoryModel: its composition, its states, and the sizes of its memory.
#include <gtest/gtest.h>
#include <retrace/models/networks/sequence_model.h>
#include <retrace/models/zoo/soft_memory_model.h>
#include <retrace/tests/compare.h>

#include <utility>

namespace retrace {
namespace {

class SoftMemoryModelTest : public testing::Test {
 protected:
  DtypeScope doubles{f64};
  Random random{5};
  Tensor x = random.normal({4, 6, 3});
  ModelSizes sizes{.input = 3, .hidden = 8, .output = 2, .time = 6};
};

TEST_F(SoftMemoryModelTest, AnswersFromTheStateAfterEachRow) {
  const SoftMemoryModel<SoftMemoryKind::stack> model(sizes, random);
  EXPECT_TRUE(same_bits(model.answers(x, 3), model.out(slice(model.rnn(x).y, {all, range(3, 6)}))));
  EXPECT_TRUE(same_bits(model(x), model.out(model.rnn(x).state.h)));
  EXPECT_THROW(model.answers(x, 7), ShapeError);
}

/// The weights depend on neither; a stack that were too small, or a jump that were too short, would forget longer
/// inputs.
TEST_F(SoftMemoryModelTest, CellsAndJumpGrowWithTheSequence) {
  sizes.input_rows = 2;  // of 6
  const SoftMemoryModel<SoftMemoryKind::tape> tape(sizes, random);
  for (const auto& [rows, jump] : {std::pair<std::int64_t, std::int64_t>{1, 1}, {6, 2}, {60, 20}, {93, 31}}) {
    const Tensor sequence = random.normal({2, rows, 3});
    EXPECT_TRUE(same_bits(tape(sequence), tape.out(tape.rnn(sequence, {.jump = jump}).state.h))) << rows;
    EXPECT_EQ(tape.rnn(sequence).state.cells.shape(), (Shape{2, 1, rows, 8}));
  }
}

/// One row at a time, with the state handed on, is the same as all rows at once; answers depend on the first cells.
TEST_F(SoftMemoryModelTest, StatesLeadToTheAnswers) {
  for (const char* name : {"stack-rnn", "tape-rnn"}) {
    const auto model = make_model(name, sizes, random);
    Tape tape({.keep = true});
    const StatesOverTime states = model->states(x);
    expect_near(states.answers, model->answers(x, 6), 1e-12, name);
    ASSERT_EQ(states.states.size(), 2U) << name;
    EXPECT_EQ(states.states[1].name, "cells");
    EXPECT_EQ(states.states[1].values[0].shape(), (Shape{4, 6, 8}));
    const Tensor last = slice(states.answers, {all, -1});
    tape.backward({last}, {random.normal(last.shape())});
    for (const StatesOverTime::States& state : states.states)
      EXPECT_GT(max(abs(state.values[0].grad())).item(), 0) << name << ", " << state.name;
  }
}

}  // namespace
}  // namespace retrace

// ExternalMemoryModel: its composition, its states, and the sizes of its memory.
#include <gtest/gtest.h>
#include <retrace/models/networks/sequence_model.h>
#include <retrace/models/zoo/external_memory_model.h>
#include <retrace/nn/memory/dnc.h>
#include <retrace/nn/memory/ntm.h>
#include <retrace/tests/compare.h>

namespace retrace {
namespace {

class ExternalMemoryModelTest : public testing::Test {
 protected:
  DtypeScope doubles{f64};
  Random random{5};
  Tensor x = random.normal({4, 6, 3});
  ModelSizes sizes{.input = 3, .hidden = 8, .output = 2, .slot_size = 5, .slots = 7, .heads = 2, .time = 6};
};

TEST_F(ExternalMemoryModelTest, AnswersFromHAndTheReadsAfterEachRow) {
  const ExternalMemoryModel<Ntm> model(sizes, random);
  EXPECT_TRUE(same_bits(model.answers(x, 3), model.out(slice(model.memory(x).y, {all, range(3, 6)}))));
  EXPECT_TRUE(same_bits(model(x), model.out(slice(model.memory(x).y, {all, 5}))));
  EXPECT_THROW(model.answers(x, 7), ShapeError);
}

TEST_F(ExternalMemoryModelTest, HasTheSlotsAndReadHeadsThatAreChosen) {
  const DncState state = ExternalMemoryModel<Dnc>(sizes, random).memory(x).state;
  EXPECT_EQ(state.memory.shape(), (Shape{4, 7, 5}));
  EXPECT_EQ(state.read_weights.shape(), (Shape{4, 2, 7}));
}

/// One row at a time, with the state handed on, is the same as all rows at once; answers depend on the first states.
TEST_F(ExternalMemoryModelTest, StatesLeadToTheAnswers) {
  for (const char* name : {"ntm", "dnc"}) {
    const auto model = make_model(name, sizes, random);
    Tape tape({.keep = true});
    const StatesOverTime states = model->states(x);
    expect_near(states.answers, model->answers(x, 6), 1e-12, name);
    ASSERT_EQ(states.states.size(), 4U) << name;
    EXPECT_EQ(states.states[1].name, "memory");
    EXPECT_EQ(states.states[1].values[0].shape(), (Shape{4, 7, 5}));
    EXPECT_EQ(states.states[2].name, "read weights");
    EXPECT_EQ(states.states[2].values[0].shape(), (Shape{4, 2, 7}));
    const Tensor last = slice(states.answers, {all, -1});
    tape.backward({last}, {random.normal(last.shape())});
    for (const StatesOverTime::States& state : states.states)
      EXPECT_GT(max(abs(state.values[0].grad())).item(), 0) << name << ", " << state.name;
  }
}

}  // namespace
}  // namespace retrace

// BlockModel: its composition, its states, and sizes that the heads do not divide.
#include <gtest/gtest.h>
#include <retrace/models/networks/sequence_model.h>
#include <retrace/models/zoo/block_model.h>
#include <retrace/nn/memory/delta_net.h>
#include <retrace/nn/memory/mlstm.h>
#include <retrace/tests/compare.h>
#include <retrace/tests/errors.h>

namespace retrace {
namespace {

class BlockModelTest : public testing::Test {
 protected:
  DtypeScope doubles{f64};
  Random random{5};
  Tensor x = random.normal({4, 6, 3});
  ModelSizes sizes{.input = 3, .hidden = 8, .output = 2, .heads = 2, .form = {.layers = 2}};
};

template <class Block> Tensor composed(const BlockModel<Block>& model, const Tensor& x) {
  const Tensor a = model.input(x), b = a + model.blocks[0](model.convolutions[0](model.norms[0](a))).y;
  return model.out(model.norm(b + model.blocks[1](model.convolutions[1](model.norms[1](b))).y));
}

/// rows + W2 (silu(a) b) of the two halves a, b of W1 LN(rows).
Tensor with_mlp(const GatedMlp& mlp, const Tensor& rows) {
  const Tensors halves = split(mlp.linear1(mlp.norm(rows)), {5, 5}, -1);
  return rows + mlp.linear2(silu(halves[0]) * halves[1]);
}

TEST_F(BlockModelTest, AddsWhatBlocksReadInTheirNormalisedInput) {
  const BlockModel<DeltaNet> delta(sizes, random);
  const BlockModel<Mlstm> mlstm(sizes, random);
  for (const std::int64_t count : {1, 3, 6}) {
    expect_near(delta.answers(x, count), slice(composed(delta, x), {all, range(6 - count, 6)}), 1e-12);
    expect_near(mlstm.answers(x, count), slice(composed(mlstm, x), {all, range(6 - count, 6)}), 1e-12);
  }
  EXPECT_EQ(delta.blocks[0].options.head_size, 4);
}

TEST_F(BlockModelTest, AFeedForwardPartFollowsEachBlock) {
  sizes.form.feed_forward = 5;
  const BlockModel<Mlstm> model(sizes, random);
  ASSERT_EQ(model.mlps.size(), 2U);
  Tensor rows = model.input(x);
  for (std::size_t k = 0; k < 2; ++k)
    rows = with_mlp(model.mlps[k], rows + model.blocks[k](model.convolutions[k](model.norms[k](rows))).y);
  expect_near(model.answers(x, 6), model.out(model.norm(rows)), 1e-12);
}

/// One row at a time, with the memory handed on, is the same as all rows at once.
TEST_F(BlockModelTest, StatesLeadToTheAnswers) {
  for (const char* name : {"delta-net", "mlstm"})
    for (const int layers : {1, 2}) {
      sizes.form.layers = layers;
      if (layers == 2) sizes.form.feed_forward = 5;
      const auto model = make_model(name, sizes, random);
      const StatesOverTime states = model->states(x);
      expect_near(states.answers, model->answers(x, 6), 1e-12, name);
      ASSERT_EQ(states.states.size(), static_cast<std::size_t>(layers));
      EXPECT_EQ(states.states[0].name, layers == 1 ? "memory" : "memory of layer 0");
      EXPECT_EQ(states.states[0].values.size(), 6U);
      EXPECT_EQ(states.states[0].values[0].shape(), (Shape{4, 8, std::string(name) == "mlstm" ? 5 : 4})) << name;
    }
}

/// The gradient of the last answer reaches the first memory.
TEST_F(BlockModelTest, LaterAnswersDependOnTheStates) {
  for (const char* name : {"delta-net", "mlstm"}) {
    const auto model = make_model(name, sizes, random);
    Tape tape({.keep = true});
    const StatesOverTime states = model->states(x);
    const Tensor last = slice(states.answers, {all, -1});
    tape.backward({last}, {random.normal(last.shape())});
    for (const StatesOverTime::States& state : states.states)
      EXPECT_GT(max(abs(state.values[0].grad())).item(), 0) << name << ", " << state.name;
  }
}

TEST_F(BlockModelTest, HeadsAreAsLargeAsFits) {
  sizes.hidden = 7;
  EXPECT_EQ(head_size_of(sizes), 3);
  EXPECT_EQ((*make_model("delta-net", sizes, random))(x).shape(), (Shape{4, 2}));
  sizes.heads = 9;
  EXPECT_EQ(head_size_of(sizes), 1);
  EXPECT_EQ((*make_model("mlstm", sizes, random))(x).shape(), (Shape{4, 2}));
}

TEST_F(BlockModelTest, WrongInputsAreRefused) {
  const auto model = make_model("mlstm", sizes, random);
  EXPECT_THROW((*model)(zeros({4, 6, 2})), ShapeError);
  EXPECT_THROW((*model)(zeros({4, 0, 3})), ShapeError);
  EXPECT_THROW(model->answers(x, 7), ShapeError);
}

}  // namespace
}  // namespace retrace

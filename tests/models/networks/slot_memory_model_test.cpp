// SlotMemoryModel: its composition, its states and its options.
#include <gtest/gtest.h>
#include <retrace/models/networks/sequence_model.h>
#include <retrace/models/networks/slot_memory_model.h>
#include <retrace/tests/compare.h>
#include <retrace/tests/models/zoo.h>

namespace retrace {
namespace {

class SlotMemoryModelTest : public testing::Test {
 protected:
  /// Each answer is that of the output layer to the flat memory, which takes in one row after the other.
  template <MemoryKind kind> void expect_composed() {
    const SlotMemoryModel<kind> model(sizes, random);
    Tensor slots = model.memory.initial_memory(4);
    Tensors want;
    for (std::int64_t t = 0; t < 6; ++t) {
      slots = model.memory(slots, slice(x, {all, t}));
      want.push_back(model.out(reshape(slots, {4, 24})));
    }
    expect_near(model.answers(x, 6), stack(want, 1), 1e-12);
    expect_near(model.states(x).answers, stack(want, 1), 1e-12);
    expect_near(model(x), want.back(), 1e-12);
    expect_near(model.trace(x).memory.back(), slots, 1e-12);
  }

  DtypeScope doubles{f64};
  Random random{5};
  Tensor x = random.normal({4, 6, 5});
  ModelSizes sizes{.input = 5, .output = 2, .slot_size = 8, .slots = 3};
};

TEST_F(SlotMemoryModelTest, AnswersFromTheFlatMemory) {
  expect_composed<MemoryKind::relational>();
  expect_composed<MemoryKind::cell>();
  expect_composed<MemoryKind::notebook>();
}

TEST_F(SlotMemoryModelTest, TheNamesAreThoseOfTheMemories) {
  const auto weights_of = [&](const char* name) { return parameters(*make_model(name, sizes, random)).size(); };
  const auto of_kind = [&](MemoryKind kind) {
    return parameters(SlotMemory(5, random, {.kind = kind, .slots = 3, .slot_size = 8})).size() + 2;
  };
  EXPECT_EQ(weights_of("relational-memory"), of_kind(MemoryKind::relational));
  if (!has_zoo()) return;
  EXPECT_EQ(weights_of("cell-memory"), of_kind(MemoryKind::cell));
  EXPECT_EQ(weights_of("notebook-memory"), of_kind(MemoryKind::notebook));
}

TEST_F(SlotMemoryModelTest, TheGateCanBeLeftOut) {
  const auto gated = make_model("relational-memory", sizes, random);
  sizes.parts.gate = MemoryGate::none;
  EXPECT_LT(count_parameters(*make_model("relational-memory", sizes, random)), count_parameters(*gated));
}

TEST_F(SlotMemoryModelTest, WrongInputsAreRefused) {
  for (const std::string_view name : model_names()) {
    if (!name.ends_with("-memory")) continue;
    const auto model = make_model(name, sizes, random);
    EXPECT_THROW((*model)(zeros({4, 6, 4})), ShapeError) << name;
    EXPECT_THROW((*model)(zeros({4, 0, 5})), ShapeError) << name;
    EXPECT_THROW((*model)(zeros({4, 5})), ShapeError) << name;
    EXPECT_THROW(model->answers(x, 7), ShapeError) << name;
  }
}

}  // namespace
}  // namespace retrace

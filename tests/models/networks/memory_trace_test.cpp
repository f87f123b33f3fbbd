// The trace of a memory is what the model itself does.
#include <gtest/gtest.h>
#include <retrace/models/networks/relational_rnn.h>
#include <retrace/models/networks/rmc_model.h>
#include <retrace/models/networks/sequence_model.h>
#include <retrace/tests/compare.h>

#include <string>

namespace retrace {
namespace {

constexpr std::int64_t batch = 3, steps = 4, features = 5;

Tensor input() { return Random(2).normal({batch, steps, features}, f64); }

/// Weights are shares that sum to 1, gates are between 0 and 1, and there is one of each per step.
void expect_sound(const MemoryTrace& trace, std::int64_t slots, std::int64_t columns) {
  ASSERT_EQ(trace.steps(), steps);
  ASSERT_EQ(trace.memory.size(), static_cast<std::size_t>(steps + 1));
  for (const Tensor& weights : trace.weights) {
    ASSERT_EQ(weights.dim(0), batch);
    ASSERT_EQ(weights.dim(2), slots);
    ASSERT_EQ(weights.dim(3), columns);
    EXPECT_GE(min(weights).item(), 0);
    EXPECT_LT(max(abs(sum(weights, -1) - 1)).item(), 1e-12);
  }
  EXPECT_FALSE(trace.gates.empty());
  for (const MemoryTrace::Gate& gate : trace.gates) {
    ASSERT_EQ(gate.values.size(), static_cast<std::size_t>(steps)) << gate.name;
    for (const Tensor& values : gate.values) {
      EXPECT_GT(min(values).item(), 0);
      EXPECT_LT(max(values).item(), 1);
    }
  }
}

TEST(MemoryTrace, OfACoreEndsInTheMemoryThatAnswers) {
  const DtypeScope scope(f64);
  for (const int heads : {1, 2}) {
    Random random(1);
    const RmcModel model({.input = features, .output = 2, .core = {.slots = 3, .head_size = 4, .heads = heads}},
                         random);
    const MemoryTrace trace = model.trace(input());
    expect_sound(trace, 3, 4);
    EXPECT_TRUE(trace.attends_to_input());
    EXPECT_EQ(trace.weights.front().dim(1), heads);
    Tensor y = reshape(trace.memory.back(), {batch, 3 * 4 * heads});
    for (std::size_t layer = 0; layer + 1 < model.head.size(); ++layer) y = relu(model.head[layer](y));
    EXPECT_LT(max(abs(model.head.back()(y) - model(input()))).item(), 1e-12);
  }
}

TEST(MemoryTrace, BesideAnLstmEndsInItsLastMemory) {
  const DtypeScope scope(f64);
  for (const MemoryKind kind : {MemoryKind::cell, MemoryKind::relational, MemoryKind::notebook}) {
    Random random(1);
    const RelationalRNN model(features, 6, 2, random, {.kind = kind, .slots = 3, .slot_size = 4});
    const MemoryTrace trace = model.trace(input());
    expect_sound(trace, 3, kind == MemoryKind::notebook ? 4 : 3);
    EXPECT_LT(max(abs(trace.memory.back() - model.last(input()).state.memory)).item(), 1e-12);
  }
}

TEST(MemoryTrace, OfAMemoryWithoutGatesHasNone) {
  const DtypeScope scope(f64);
  for (const MemoryKind kind : {MemoryKind::cell, MemoryKind::relational}) {
    Random random(1);
    const RelationalRNN model(features, 6, 2, random, {.kind = kind, .slots = 3, .slot_size = 4, .gate = false});
    EXPECT_TRUE(model.trace(input()).gates.empty());
  }
  Random random(1);
  const RmcModel model({.input = features, .output = 2, .core = {.slots = 3, .gate = MemoryGate::none}}, random);
  EXPECT_TRUE(model.trace(input()).gates.empty());
}

TEST(MemoryTrace, OnlyModelsWithSlotsHaveOne) {
  const DtypeScope scope(f64);
  for (const std::string_view name : model_names()) {
    Random random(1);
    const auto model = make_model(name, {.input = features, .slot_size = 8, .time = steps}, random);
    const bool has_slots = name == "rmc" || name == "relational-rnn" || name.ends_with("-memory");
    EXPECT_EQ(model->trace(input()).has_value(), has_slots) << name;
  }
}

}  // namespace
}  // namespace retrace

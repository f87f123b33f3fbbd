// How much modules put on the tape: what an op fuses is one record, and expanded it is many with the same numbers.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include <retrace/models/networks/attention_model.h>
#include <retrace/models/networks/relational_rnn.h>
#include <retrace/nn/nn.h>
#include <retrace/tests/compare.h>

namespace retrace {
namespace {

constexpr std::int64_t features = 5;

using Names = std::vector<std::string>;

Names recorded(const std::function<void()>& run, TapeOptions options = {}) {
  Tape tape(options);
  run();
  Names names;
  for (const Record* record : tape.records()) names.push_back(record->op().name);
  return names;
}

TEST(Records, AWholeRecurrentLayerIsTwoRecordsAtAnyLength) {
  Random random(7);
  const Lstm lstm(features, 4, random);
  const Gru gru(features, 4, random);
  const Rnn rnn(features, 4, random);
  for (const std::int64_t time : {1, 20}) {
    const Tensor x = random.normal({2, time, features});
    EXPECT_EQ(recorded([&] { lstm(x); }), (Names{"linear", "lstm_sequence"}));
    EXPECT_EQ(recorded([&] { gru(x); }), (Names{"linear", "gru_sequence"}));
    EXPECT_EQ(recorded([&] { rnn(x); }), (Names{"linear", "rnn_sequence"}));
  }
}

TEST(Records, ALayerAndItsActivationAreOne) {
  Random random(9);
  const Linear layer(features, 4, random);
  const Tensor x = random.normal({2, features});
  EXPECT_EQ(recorded([&] { layer(x, Activation::relu); }), (Names{"linear"}));
  const AttentionBlock block(8, 2, random);
  const Tensor rows = random.normal({2, 3, 8});
  EXPECT_EQ(recorded([&] { block(rows); }), (Names{"layer_norm", "linear", "linear", "linear", "attention", "linear",
                                                   "add", "layer_norm", "linear", "linear", "add"}));
}

TEST(Records, AStepOfAMemoryCoreIsThirteen) {
  Random random(10);
  const RelationalMemoryCore core(features, random, {.slots = 3, .head_size = 4, .heads = 2});
  const Tensor memory = core.initial_memory(2), x = random.normal({2, features});
  EXPECT_EQ(recorded([&] { core(memory, x); }),
            (Names{"linear", "linear", "reshape", "concat", "linear", "layer_norm", "packed_attention",
                   "residual_layer_norm", "linear", "linear", "residual_layer_norm", "linear", "gated_memory"}));
}

TEST(Records, ExpandedItIsManyRecordsAndTheSameNumbers) {
  const DtypeScope scope(f64);
  Random random(8);
  const Lstm lstm(features, 4, random);
  const Tensor x = random.normal({2, 20, features}), u = random.normal({2, 20, 4});
  EXPECT_GT(recorded([&] { lstm(x); }, {.expand_fused = true}).size(), 20u * 8u);
  std::vector<Tensors> results;
  for (const bool expanded : {false, true}) {
    zero_grad(lstm);
    Tape tape({.expand_fused = expanded});
    const Tensor y = lstm(x).y;
    tape.backward({y}, {u});
    results.push_back({y});
    for (const NamedTensor& parameter : parameters(lstm)) results.back().push_back(parameter.tensor.grad().clone());
  }
  for (std::size_t k = 0; k < results[0].size(); ++k) EXPECT_LT(difference(results[0][k], results[1][k]), 1e-12);
}

/// Each step of a RelationalRNN makes the same number of records, whatever the length: nothing is walked twice.
TEST(Records, TheRelationalNetworkGrowsByTheSameNumberEveryStep) {
  Random random(9);
  const RelationalRNN network(features, 4, 2, random, {.slots = 3, .slot_size = 4, .heads = 2});
  const auto records = [&](std::int64_t time) {
    const Tensor x = random.normal({2, time, features});
    return recorded([&] { network.last(x); }).size();
  };
  const std::size_t of_a_step = records(2) - records(1);
  EXPECT_EQ(records(12) - records(2), 10 * of_a_step);
  EXPECT_LE(of_a_step, 20u);
}

}  // namespace
}  // namespace retrace

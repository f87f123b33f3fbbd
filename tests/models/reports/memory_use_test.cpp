// The measurements of a memory, on traces with known numbers.
#include <gtest/gtest.h>
#include <retrace/models/reports/evaluation/attention_example.h>
#include <retrace/models/reports/evaluation/information.h>
#include <retrace/models/reports/evaluation/memory_use.h>
#include <retrace/ops/ops.h>

#include <cmath>
#include <functional>
#include <set>

namespace retrace {
namespace {

constexpr std::int64_t samples = 64, slots = 4, size = 3;

TEST(Information, OfKnownCounts) {
  const std::vector<double> even{5, 5, 5, 5}, one{0, 7, 0}, half{1, 1, 0};
  EXPECT_DOUBLE_EQ(entropy(even), 2);
  EXPECT_DOUBLE_EQ(entropy(one), 0);
  EXPECT_DOUBLE_EQ(effective_number(half), 2);
  EXPECT_DOUBLE_EQ(entropy(std::vector<double>{0, 0}), 0);
  EXPECT_EQ(mutual_information({{10, 10}, {10, 10}}), 0);
  EXPECT_NEAR(mutual_information({{1e6, 0}, {0, 1e6}}), 1, 1e-6);
  EXPECT_EQ(mutual_information({{1, 0}, {0, 1}}), std::max(0.0, 1 - 1 / (2 * std::log(2.0) * 2)));
  EXPECT_EQ(mutual_information({}), 0);
}

/// The slot that is written at a step of a sample.
using Written = std::function<std::int64_t(std::int64_t t, std::int64_t sample)>;

/// Slots that are initially 0, one of which grows by 1 per step; attention only to `column`, or uniform for -1.
MemoryTrace made_trace(std::int64_t steps, const Written& written, std::int64_t columns, std::int64_t column) {
  MemoryTrace trace;
  trace.memory.push_back(zeros({samples, slots, size}));
  for (std::int64_t t = 0; t < steps; ++t) {
    const Tensor memory = trace.memory.back().clone();
    for (std::int64_t sample = 0; sample < samples; ++sample)
      memory.mutable_values<float>()[static_cast<std::size_t>((sample * slots + written(t, sample)) * size)] += 1;
    Tensor weights = full({samples, 2, slots, columns}, column < 0 ? 1 / static_cast<double>(columns) : 0);
    if (column >= 0) {
      const auto values = weights.mutable_values<float>();
      for (std::size_t k = static_cast<std::size_t>(column); k < values.size(); k += static_cast<std::size_t>(columns))
        values[k] = 1;
    }
    trace.add(memory, weights);
    trace.add_gate("update", full({samples, slots, size}, 0.25));
  }
  return trace;
}

struct Made {
  std::unique_ptr<Task> task = make_task("nth-farthest", {.vectors = 4, .dims = 2});
  Batch batch;
  Made() {
    Random random(2);
    batch = task->sample(random, samples);
  }
  MemoryUse use(const Written& written, std::int64_t columns = slots + 1, std::int64_t column = -1) const {
    return memory_use(*task, batch, made_trace(4, written, columns, column));
  }
  std::int64_t topic(std::int64_t t, std::int64_t sample) const { return task->topic(Example(batch, sample), t); }
};

TEST(MemoryUse, OfEvenAttentionIsAllSlots) {
  const MemoryUse use = Made().use([](std::int64_t, std::int64_t) { return 0; });
  EXPECT_NEAR(use.effective_slots, slots, 1e-6);
  EXPECT_NEAR(use.attention_entropy, std::log2(slots + 1), 1e-6);
  EXPECT_NEAR(use.input_attention, 0.2, 1e-6);
  for (const SlotUse& slot : use.of_slots) EXPECT_NEAR(slot.attention, 0.2, 1e-6);
  ASSERT_TRUE(use.around.has_value());
  EXPECT_NEAR(use.around->to_input_before, 0.2, 1e-6);
  EXPECT_NEAR(use.around->to_slot_after, 0.2, 1e-6);
  EXPECT_EQ(use.around->samples, samples);
}

TEST(MemoryUse, OfAttentionToOneSlotIsOneSlot) {
  const MemoryUse use = Made().use([](std::int64_t, std::int64_t) { return 2; }, slots + 1, 2);
  EXPECT_NEAR(use.effective_slots, 1, 1e-6);
  EXPECT_NEAR(use.attention_entropy, 0, 1e-6);
  EXPECT_NEAR(use.of_slots[2].attention, 1, 1e-6);
  EXPECT_EQ(use.input_attention, 0);
  EXPECT_EQ(use.effective_written, 1);
  EXPECT_EQ(use.of_slots[2].written, 1);
  EXPECT_NEAR(use.around->to_slot_after, 1, 1e-6);
}

TEST(MemoryUse, ASlotForEachStepIsToldByTheStepAlone) {
  const MemoryUse use = Made().use([](std::int64_t t, std::int64_t) { return t; });
  EXPECT_DOUBLE_EQ(use.specialisation.slot_entropy, 2);
  EXPECT_NEAR(use.specialisation.by_time, 2, 0.03);
  EXPECT_LT(*use.specialisation.by_topic, 0.1);
  EXPECT_DOUBLE_EQ(use.effective_written, 4);
  for (std::size_t t = 0; t < 4; ++t) EXPECT_EQ(use.written_over_time[t][t], 1);
}

TEST(MemoryUse, ASlotForEachLabelIsToldByTheLabelAlone) {
  const Made made;
  const MemoryUse use = made.use([&](std::int64_t t, std::int64_t sample) { return made.topic(t, sample); });
  EXPECT_NEAR(*use.specialisation.by_topic, 2, 0.03);
  EXPECT_LT(use.specialisation.by_time, 0.1);
}

TEST(MemoryUse, NormsVariancesAndGatesAreThoseOfTheTrace) {
  const MemoryUse use = Made().use([](std::int64_t, std::int64_t) { return 1; });
  EXPECT_NEAR(use.of_slots[1].norm, 2.5, 1e-6) << "1, 2, 3, 4";
  EXPECT_NEAR(use.of_slots[1].norm_over_time, std::sqrt(1.25), 1e-6);
  EXPECT_NEAR(use.of_slots[1].variance, 1.25 / size, 1e-6);
  EXPECT_EQ(use.of_slots[0].norm, 0);
  ASSERT_EQ(use.gates.size(), 1U);
  EXPECT_EQ(use.gates[0].name, "update");
  EXPECT_NEAR(use.gates[0].mean, 0.25, 1e-6);
  EXPECT_EQ(use.gates[0].of_slots.size(), static_cast<std::size_t>(slots));
}

TEST(MemoryUse, WithoutAnInputColumnThereIsNothingOfIt) {
  const MemoryUse use = Made().use([](std::int64_t, std::int64_t) { return 0; }, slots);
  EXPECT_EQ(use.columns, slots);
  EXPECT_EQ(use.input_attention, 0);
  EXPECT_EQ(use.around->to_input_before, 0);
  double received = 0;
  for (const SlotUse& slot : use.of_slots) received += slot.attention;
  EXPECT_NEAR(received, 1, 1e-6);
}

TEST(MemoryUse, ATraceOfAnotherBatchIsRefused) {
  const Made made;
  const MemoryTrace trace = made_trace(
      3, [](std::int64_t, std::int64_t) { return 0; }, slots, -1);
  EXPECT_THROW(memory_use(*made.task, made.batch, trace), ShapeError);
}

TEST(AttentionExamples, ShowTheRowToRememberLastFirstAndInTheMiddle) {
  const auto task = make_task("nth-farthest", {.vectors = 8, .dims = 2});
  Random random(2);
  const Batch batch = task->sample(random, samples);
  const std::vector<Prediction> all_answered = answered(*task, batch, random.normal({samples, 8}));
  const auto rows = [&](std::int64_t count) {
    std::vector<std::int64_t> result;
    for (const std::int64_t sample : choose_examples(*task, all_answered, count))
      result.push_back(*task->row_to_remember(all_answered[static_cast<std::size_t>(sample)].example));
    return result;
  };
  EXPECT_EQ(rows(3), (std::vector<std::int64_t>{7, 0, 3}));
  EXPECT_EQ(rows(10), (std::vector<std::int64_t>{7, 0, 3, 1, 2, 4, 5, 6, 7, 0}));
  EXPECT_TRUE(rows(0).empty());
  const auto chosen = choose_examples(*task, all_answered, 10 * samples);
  EXPECT_EQ(std::set<std::int64_t>(chosen.begin(), chosen.end()).size(), static_cast<std::size_t>(samples));
}

TEST(AttentionExamples, WithoutRowsToRememberAreTheFirstSamples) {
  const auto task = make_task("parity", {.length = 3});
  Random random(2);
  const Batch batch = task->sample(random, samples);
  const std::vector<Prediction> all_answered = answered(*task, batch, random.normal({samples, 3, 2}));
  EXPECT_EQ(choose_examples(*task, all_answered, 3), (std::vector<std::int64_t>{0, 1, 2}));
}

TEST(AttentionExamples, HoldTheMeanOfTheHeadsRowByRow) {
  const Made made;
  const std::vector<Prediction> all_answered = answered(*made.task, made.batch, Random(1).normal({samples, 4}));
  MemoryTrace trace = made_trace(
      4, [](std::int64_t, std::int64_t) { return 0; }, slots + 1, 4);
  trace.weights[2] = softmax(Random(3).normal({samples, 2, slots, slots + 1}));
  const AttentionExample example = attention_example(*made.task, all_answered[5], trace, 5);
  EXPECT_TRUE(example.attends_to_input);
  ASSERT_EQ(example.weights.size(), 4U);
  for (const std::vector<double>& step : example.weights)
    for (std::int64_t row = 0; row < slots; ++row) {
      double sum = 0;
      for (const double weight : columns(step, row * (slots + 1), slots + 1)) sum += weight;
      EXPECT_NEAR(sum, 1, 1e-6);
    }
  EXPECT_EQ(example.weights[0][4], 1) << "all to the input";
  EXPECT_NEAR(example.weights[2][7], (trace.weights[2].at({5, 0, 1, 2}) + trace.weights[2].at({5, 1, 1, 2})) / 2, 1e-6);
}

}  // namespace
}  // namespace retrace

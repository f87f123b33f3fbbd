#include <gtest/gtest.h>
#include <retrace/core/checks/gradcheck.h>
#include <retrace/models/tasks/recipes.h>
#include <retrace/models/training/fit.h>
#include <retrace/models/training/run.h>
#include <retrace/models/training/slot_specialisation.h>

#include <cmath>

namespace retrace {
namespace {

/// A memory [B, T + 1, slots, size] whose slots change at each step, as a trace of it.
MemoryTrace trace_of(const Tensor& memory) {
  MemoryTrace trace;
  const Shape shape = memory.shape();
  trace.memory.push_back(slice(memory, {all, 0}));
  for (std::int64_t t = 1; t < shape[1]; ++t)
    trace.add(slice(memory, {all, t}), zeros({shape[0], 1, shape[2], shape[2]}, memory.dtype()));
  return trace;
}

/// One sample of as many steps as there are slots that change, each by 1.
MemoryTrace trace_of_changes(const std::vector<std::int64_t>& changed, std::int64_t slots) {
  Tensor memory = zeros({1, std::ssize(changed) + 1, slots, 1}, f64);
  for (std::size_t t = 0; t < changed.size(); ++t)
    for (std::size_t later = t + 1; later <= changed.size(); ++later)
      memory.mutable_values<double>()[later * static_cast<std::size_t>(slots) + static_cast<std::size_t>(changed[t])] +=
          1;
  return trace_of(memory);
}

TEST(SlotSpecialisation, IsTheEntropyOfTheTopicsWhereEachHasItsSlot) {
  const Tensor topics = tensor({{0, 1, 2, 0, -1}}, i64);
  const double information = topic_information(trace_of_changes({2, 0, 1, 2, 0}, 4), topics).item();
  const double entropy = -(0.5 * std::log(0.5) + 2 * 0.25 * std::log(0.25));
  EXPECT_NEAR(information, entropy, 1e-9);
}

TEST(SlotSpecialisation, IsZeroWhereTopicsShareTheSlotsAlike) {
  const Tensor topics = tensor({{0, 1, 0, 1}}, i64);
  EXPECT_NEAR(topic_information(trace_of_changes({1, 1, 1, 1}, 3), topics).item(), 0, 1e-9);
  EXPECT_NEAR(topic_information(trace_of_changes({0, 0, 2, 2}, 3), topics).item(), 0, 1e-9);
}

TEST(SlotSpecialisation, CountsNoRowWithoutATopic) {
  const MemoryTrace trace = trace_of_changes({0, 1, 2}, 3);
  EXPECT_NEAR(topic_information(trace, tensor({{0, 1, -1}}, i64)).item(), std::log(2), 1e-9);
  EXPECT_EQ(topic_information(trace, full({1, 3}, -1, i64)).item(), 0);
  EXPECT_THROW(topic_information(trace, full({1, 2}, -1, i64)), ShapeError);
}

TEST(SlotSpecialisation, HasTheGradientOfItsDifferences) {
  Random random(4);
  const Tensor topics = tensor({{0, 1, 1}, {2, 0, -1}}, i64);
  const Tensor memory = random.normal({2, 4, 3, 2}, f64);
  const GradcheckResult result =
      gradcheck([&](const Tensors& inputs) { return topic_information(trace_of(inputs[0]), topics); }, {memory});
  EXPECT_TRUE(result.passed()) << result;
}

TEST(SlotSpecialisation, MakesSlotsSpecialiseInAgents) {
  const auto information_after = [](double specialise) {
    RunOptions options{.task = "babi", .model = {.name = "rmc", .sizes = {.slot_size = 16, .slots = 4}}};
    options.fit = {.steps = 500, .batch = 32, .learning_rate = 1e-2, .specialise = specialise, .test_samples = 32};
    auto run = prepare(options);
    run.train();
    Random random(9);
    const Batch batch = run.task->sample(random, 200);
    return topic_information(*run.model->trace(batch.x), topics_of(*run.task, batch)).item();
  };
  EXPECT_LT(information_after(0), 0.1);
  EXPECT_GT(information_after(10), 0.6);  // of log 4 = 1.39
}

TEST(SlotSpecialisation, RefusesModelsWithoutSlotsAndTasksWithoutTopics) {
  RunOptions options{.task = "babi", .model = {.name = "lstm"}};
  options.fit = {.steps = 1, .specialise = 1};
  auto without_memory = prepare(options);
  EXPECT_THROW(without_memory.train(), ValueError);
  options.task = "adding", options.model.name = "rmc";
  auto without_topics = prepare(options);
  EXPECT_THROW(without_topics.train(), ValueError);
}

}  // namespace
}  // namespace retrace

#include <gtest/gtest.h>
#include <retrace/core/tape/tape.h>
#include <retrace/models/training/evaluate.h>
#include <retrace/models/training/fit.h>
#include <retrace/ops/ops.h>

#include <algorithm>
#include <cmath>
#include <memory>

namespace retrace {
namespace {

constexpr std::int64_t time_steps = 7, features = 3, classes = 4;

std::unique_ptr<SequenceModel> small_model(std::string_view name, std::string_view memory = "cell") {
  Random random(3);
  return make_model(name,
                    {.input = features,
                     .hidden = 8,
                     .output = classes,
                     .slot_size = 4,
                     .time = time_steps,
                     .memory = std::string(memory)},
                    random);
}

TEST(Answers, TheLastOneIsTheAnswerAfterTheWholeSequence) {
  Random random(1);
  const Tensor x = random.normal({5, time_steps, features});
  for (const std::string_view name : model_names()) {
    const auto model = small_model(name);
    const Tensor answers = model->answers(x, 3);
    ASSERT_EQ(answers.shape(), (Shape{5, 3, classes})) << name;
    EXPECT_TRUE(std::ranges::equal(slice(answers, {all, 2}).values<float>(), (*model)(x).values<float>())) << name;
    EXPECT_EQ(model->answers(x, time_steps).shape(), (Shape{5, time_steps, classes})) << name;
  }
}

TEST(Answers, WhatReadsStepByStepAnswersAsIfTheSequenceEndedThere) {
  Random random(2);
  const Tensor x = random.normal({5, time_steps, features});
  const auto expect_prefixes = [&](const SequenceModel& model, std::string_view name) {
    const Tensor answers = model.answers(x, 4);
    for (std::int64_t k = 0; k < 4; ++k) {
      const Tensor prefix = model(slice(x, {all, range(0, time_steps - 3 + k)}));
      const Tensor there = slice(answers, {all, k});
      for (std::size_t i = 0; i < prefix.values<float>().size(); ++i)
        ASSERT_NEAR(there.values<float>()[i], prefix.values<float>()[i], 1e-5) << name << ", answer " << k;
    }
  };
  for (const std::string_view name : model_names())
    if (name != "attention" && name != "transformer") expect_prefixes(*small_model(name), name);
  for (const std::string_view memory : memory_names()) expect_prefixes(*small_model("relational-rnn", memory), memory);
}

TEST(Answers, EveryWeightThatAnAnswerUsesGetsAGradient) {
  Random random(4);
  const Tensor x = random.normal({2, time_steps, features});
  for (const std::string_view name : model_names()) {
    const auto model = small_model(name);
    Tape tape;
    tape.backward(sum(square(model->answers(x, 2))));
    for (const NamedTensor& parameter : parameters(*model))
      EXPECT_TRUE(parameter.tensor.grad().defined()) << name << " " << parameter.name;
  }
}

TEST(Answers, AsManyAsThereAreRowsCanBeAskedFor) {
  Random random(5);
  const Tensor x = random.normal({2, time_steps, features});
  for (const std::string_view name : model_names()) {
    const auto model = small_model(name);
    EXPECT_THROW(model->answers(x, 0), ShapeError) << name;
    EXPECT_THROW(model->answers(x, time_steps + 1), ShapeError) << name;
  }
}

/// Rows of noise. The answer to the last three is the class `right`, except for rows without an answer.
class ThreeRows final : public Task {
 public:
  explicit ThreeRows(TaskKind kind = TaskKind::classification, std::int64_t unanswered = 1)
      : Task("three-rows", kind), unanswered_(unanswered) {}
  std::int64_t input_size() const override { return features; }
  std::int64_t sequence_length() const override { return time_steps; }
  std::int64_t output_size() const override { return classes; }
  std::int64_t answer_length() const override { return 3; }
  Baselines baselines() const override { return {}; }

  static constexpr std::int64_t right = 2;

 private:
  void fill(Random& random, const Batch& batch) const override {
    for (float& value : batch.x.mutable_values<float>()) value = static_cast<float>(random.normal());
    if (kind() == TaskKind::regression) {
      std::ranges::fill(batch.y.mutable_values<float>(), 0.5F);
      return;
    }
    const auto labels = batch.y.mutable_values<std::int64_t>();
    for (std::size_t k = 0; k < labels.size(); ++k)
      labels[k] = static_cast<std::int64_t>(k % 3) < unanswered_ ? no_answer : right;
  }

  std::int64_t unanswered_;
};

/// Answers class `right` after even rows and another one after odd ones, with a logit of 1.
class EveryOther final : public SequenceModel {
 public:
  Tensor operator()(const Tensor& x, Random*) const override { return slice(answers(x, 1, nullptr), {all, 0}); }
  Tensor answers(const Tensor& x, std::int64_t count, Random*) const override {
    Tensor y = zeros({x.dim(0), count, classes});
    const auto values = y.mutable_values<float>();
    for (std::int64_t row = 0; row < x.dim(0) * count; ++row)
      values[static_cast<std::size_t>(row * classes + (row % count % 2 == 0 ? ThreeRows::right : 0))] = 1;
    return y;
  }
};

TEST(Answers, OnlyRowsWithAnAnswerCount) {
  const ThreeRows task;  // answers 1 and 2 of 0 to 2 count: one wrong, one right
  const Evaluation result = evaluate(EveryOther(), task, Random(1), 300);
  EXPECT_DOUBLE_EQ(result.metric, 0.5);
  const double others = std::log(std::exp(1.0) + 3);
  EXPECT_NEAR(result.loss, (others + (others - 1)) / 2, 1e-5);
  Random random(1);
  const Batch batch = task.sample(random, 4);
  ASSERT_EQ(batch.y.shape(), (Shape{4, 3}));
  EXPECT_NEAR(task_loss(task, EveryOther().answers(batch.x, 3, nullptr), batch.y).item(), result.loss, 1e-5);
}

TEST(Answers, NumbersOfEveryRowAreHeldAgainstTheirTargets) {
  const ThreeRows task(TaskKind::regression);
  Random random(1);
  EXPECT_EQ(task.sample(random, 2).y.shape(), (Shape{2, 3, classes}));
  // One number in four is 1, the others are 0; the error of each is 1/2.
  EXPECT_DOUBLE_EQ(evaluate(EveryOther(), task, Random(1), 300).metric, 0.25);
}

TEST(Answers, EveryModelLearnsThem) {
  for (const std::string_view name : model_names()) {
    const auto model = small_model(name);
    const FitResult result =
        fit(*model, ThreeRows(), {.steps = 60, .batch = 8, .learning_rate = 3e-2, .test_samples = 50});
    EXPECT_EQ(result.test.metric, 1) << name;
  }
}

}  // namespace
}  // namespace retrace

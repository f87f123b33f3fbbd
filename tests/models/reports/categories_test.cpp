// Answers sorted by kind, intervals, failures: on answers that a test makes itself.
#include <gtest/gtest.h>
#include <retrace/models/reports/evaluation/categories.h>
#include <retrace/models/reports/evaluation/failures.h>
#include <retrace/models/training/evaluate.h>
#include <retrace/ops/ops.h>

#include <cmath>
#include <string>
#include <string_view>

namespace retrace {
namespace {

constexpr std::int64_t samples = 200;

/// Samples of a task, and random logits (or numbers).
struct Guessed {
  std::unique_ptr<Task> task;
  Batch batch;
  Tensor output;

  explicit Guessed(std::string_view name, const TaskOptions& options = {}) : task(make_task(name, options)) {
    Random random(5);
    batch = task->sample(random, samples);
    const std::int64_t answers = task->answer_length(), width = task->output_size();
    output = random.normal(answers == 1 ? Shape{samples, width} : Shape{samples, answers, width});
  }
  std::vector<Prediction> answered() const { return retrace::answered(*task, batch, output); }
  double metric() const { return task_metric(*task, output, batch.y); }
};

TEST(Categories, OfEveryTaskAddUpToTheMetric) {
  for (const std::string_view name : task_names()) {
    const Guessed guessed(name);
    CategoryCounter counter(*guessed.task);
    std::int64_t answers = 0;
    for (const Prediction& sample : guessed.answered()) {
      counter.add(sample);
      answers += sample.counted();
    }
    ASSERT_FALSE(counter.tables().empty()) << name;
    for (const CategoryTable& table : counter.tables()) {
      if (table.name == "moves of the holder since") continue;  // of stories in which there is a holder
      std::int64_t counted = 0;
      double sum = 0;
      for (const CategoryRow& row : table.rows) {
        EXPECT_GT(row.metric.answers, 0) << name;
        EXPECT_LE(row.metric.low, row.metric.value) << name;
        EXPECT_GE(row.metric.high, row.metric.value) << name;
        counted += row.metric.answers;
        sum += row.metric.value * static_cast<double>(row.metric.answers);
      }
      EXPECT_EQ(counted, answers) << name << ", " << table.name;
      EXPECT_NEAR(sum / static_cast<double>(counted), guessed.metric(), 1e-6 * (1 + guessed.metric()))
          << name << ", " << table.name;
    }
  }
}

TEST(Estimates, AreWilsonsForSharesOfIndependentAnswers) {
  Scores scores;
  for (int k = 0; k < 10; ++k) scores.add_sample(k < 8 ? 1 : 0, 1);
  const Estimate estimate = scores.estimate(TaskKind::classification);
  EXPECT_DOUBLE_EQ(estimate.value, 0.8);
  EXPECT_NEAR(estimate.low, 0.4902, 1e-4);  // Wilson's interval for 8 of 10
  EXPECT_NEAR(estimate.high, 0.9433, 1e-4);
  Scores perfect;
  for (int k = 0; k < 10; ++k) perfect.add_sample(1, 1);
  EXPECT_EQ(perfect.estimate(TaskKind::classification).high, 1);
  EXPECT_NEAR(perfect.estimate(TaskKind::classification).low, 1 / (1 + 1.959964 * 1.959964 / 10), 1e-6);
}

TEST(Estimates, AnswersOfASampleThatGoTogetherCountAsOne) {
  Scores together, apart, single;
  for (int k = 0; k < 100; ++k) {
    together.add_sample(k % 2 == 0 ? 10 : 0, 10);  // all right or all wrong
    apart.add_sample(5, 10);
    single.add_sample(k % 2 == 0 ? 1 : 0, 1);
  }
  const auto width = [](const Scores& scores) {
    const Estimate estimate = scores.estimate(TaskKind::classification);
    return estimate.high - estimate.low;
  };
  EXPECT_NEAR(width(together), width(single), 2e-3);
  EXPECT_LE(width(apart), width(single));
}

TEST(Estimates, OfErrorsAreTheNormalInterval) {
  Scores scores;
  for (const double error : {1.0, 2.0, 3.0, 4.0}) scores.add_sample(error, 1);
  const Estimate estimate = scores.estimate(TaskKind::regression);
  EXPECT_DOUBLE_EQ(estimate.value, 2.5);
  EXPECT_NEAR(estimate.high - 2.5, 1.959964 * std::sqrt(5.0 / 3 / 4), 1e-9);
  Scores one;
  one.add_sample(1, 1);
  EXPECT_FALSE(std::isfinite(one.estimate(TaskKind::regression).high));
}

TEST(Failures, AreFailuresTheSurestFirst) {
  const Guessed guessed("pair-matching");
  FailureList failures(*guessed.task, 7);
  const std::vector<Prediction> all_answered = guessed.answered();
  for (const Prediction& sample : all_answered) failures.add(sample);
  EXPECT_EQ(static_cast<double>(failures.count()), std::round(samples * (1 - guessed.metric())));
  ASSERT_EQ(failures.worst().size(), 7U);
  double before = 1;
  for (const Failure& failure : failures.worst()) {
    const Prediction& sample = all_answered[static_cast<std::size_t>(failure.sample)];
    EXPECT_NE(failure.expected, failure.given);
    EXPECT_EQ(failure.expected, std::to_string(sample.example.label()));
    EXPECT_EQ(failure.input, guessed.task->describe(sample.example));
    EXPECT_LT(failure.probability_of_expected, failure.probability_of_given);
    EXPECT_LE(failure.probability_of_given, before);
    before = failure.probability_of_given;
  }
  for (const Prediction& sample : all_answered) {
    if (!sample.failed()) continue;
    EXPECT_LE(sample.probability_of_given(), failures.worst().front().probability_of_given);
  }
}

TEST(Failures, OfSequencesAreWrittenInARowWithoutWhatIsNotAsked) {
  const Guessed guessed("execute", {.length = 2, .program = "addition", .nesting = 1});
  for (const Prediction& sample : guessed.answered()) {
    const std::string expected = sample.expected_words(*guessed.task), given = sample.given_words(*guessed.task);
    EXPECT_TRUE(expected.size() == 2 || expected.size() == 3) << "the sum of two numbers of two digits";
    EXPECT_EQ(expected.size(), given.size());
    EXPECT_EQ(static_cast<std::int64_t>(expected.size()), sample.counted());
    EXPECT_EQ(sample.failed(), expected != given);
    EXPECT_GE(sample.probability_of_given(), sample.probability_of_expected());
  }
}

TEST(Failures, OfNumbersAreTheLargestErrors) {
  const Guessed guessed("object-tracking");
  FailureList failures(*guessed.task, 3);
  double largest = 0;
  for (const Prediction& sample : guessed.answered()) {
    failures.add(sample);
    largest = std::max(largest, sample.total());
  }
  EXPECT_EQ(failures.worst().front().error, largest);
  EXPECT_EQ(failures.worst().front().given.front(), '(');
}

TEST(Failures, NoneAreKeptWhereNoneAreAskedFor) {
  const Guessed guessed("babi");
  FailureList failures(*guessed.task, 0);
  for (const Prediction& sample : guessed.answered()) failures.add(sample);
  EXPECT_GT(failures.count(), 0);
  EXPECT_TRUE(failures.worst().empty());
}

}  // namespace
}  // namespace retrace

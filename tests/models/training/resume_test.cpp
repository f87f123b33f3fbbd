// A training that was stopped and resumed ends with the bits of one that was not.
#include <gtest/gtest.h>
#include <retrace/models/tasks/dataset.h>
#include <retrace/models/tasks/symbols/sequence_task.h>
#include <retrace/models/training/checkpoint.h>
#include <retrace/models/training/fit.h>
#include <retrace/tests/errors.h>
#include <retrace/tests/temporary_folder.h>

#include <atomic>
#include <fstream>
#include <limits>
#include <memory>
#include <regex>
#include <string>

namespace retrace {
namespace {

constexpr std::int64_t batch_size = 8;

/// After this number of batches, requests a stop or returns samples that are NaN.
struct Countdown {
  std::int64_t batches = std::numeric_limits<std::int64_t>::max();
  bool poison = false;
  std::atomic<bool> stop{false};
};

/// One pair and its question, with an easier lesson first, drawn under a countdown.
class CountedTask final : public Task {
 public:
  explicit CountedTask(Countdown& countdown, std::int64_t vocabulary = 6)
      : Task("counted", TaskKind::classification),
        countdown_(countdown),
        drawn_(sequence_rules("pair-matching"), {.length = 4, .vocabulary = vocabulary}) {}
  std::int64_t input_size() const override { return 7; }
  std::int64_t sequence_length() const override { return 4; }
  std::int64_t output_size() const override { return 6; }
  Baselines baselines() const override { return drawn_.baselines(); }
  std::vector<Lesson> lessons() const override {
    std::vector<Lesson> lessons;
    lessons.push_back({std::make_unique<CountedTask>(countdown_), 0.05});
    return lessons;
  }

 private:
  void fill(Random& random, const Batch& batch) const override {
    const Batch drawn = drawn_.sample(random, batch.x.dim(0));
    copy_values(drawn.x, batch.x);
    copy_values(drawn.y, batch.y);
    if (batch.x.dim(0) == batch_size && --countdown_.batches <= 0) {
      countdown_.stop = true;
      if (countdown_.poison) batch.x.mutable_values<float>()[0] = std::numeric_limits<float>::quiet_NaN();
    }
  }

  Countdown& countdown_;
  SequenceTask drawn_;
};

class Resume : public testing::Test {
 protected:
  void SetUp() override { options_.checkpoint = folder_ / "checkpoint.safetensors"; }

  /// Trains a new model until `batches` more have been drawn.
  FitResult train(std::int64_t batches, bool resume, bool poison = false) {
    Countdown countdown{.batches = batches, .poison = poison, .stop = false};
    const CountedTask task(countdown);
    Random random = Random(1).stream("weights");
    model_ = make_model("lstm", {.input = 7, .hidden = 16, .output = 6}, random);
    FitOptions options = options_;
    options.resume = resume;
    options.stop = &countdown.stop;
    return fit(*model_, task, options);
  }
  std::string hash() const { return weights_hash(*model_); }

  static constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();
  FitOptions options_{.steps = 60,
                      .batch = batch_size,
                      .accumulate = 2,
                      .learning_rate = 1e-2,
                      .validate_every = 7,
                      .validation_samples = 64,
                      .test_samples = 64,
                      .checkpoint_seconds = 0};
  std::unique_ptr<SequenceModel> model_;

 private:
  TemporaryFolder folder_;
};

TEST_F(Resume, AfterAnyStepEndsWithTheSameWeights) {
  for (const char* optimizer : {"adam", "muon", "rmsprop", "sgd"}) {
    options_.optimizer = optimizer;
    const FitResult whole = train(never, false);
    const std::string expected = hash();
    EXPECT_EQ(whole.stopped_by, StopReason::steps);
    EXPECT_GT(whole.history.back().lesson, 0) << "the curriculum is to be resumed, too";
    for (const std::int64_t step : {1, 7, 20, 59}) {
      EXPECT_EQ(train(2 * step, false).stopped_by, StopReason::signal);
      EXPECT_EQ(step_of_checkpoint(options_.checkpoint), step);
      const FitResult rest = train(never, true);
      EXPECT_EQ(hash(), expected) << optimizer << " stopped after " << step;
      EXPECT_EQ(rest.best_step, whole.best_step);
      EXPECT_EQ(rest.test.loss, whole.test.loss);
      EXPECT_EQ(rest.history.back().loss, whole.history.back().loss) << "the mean over a window that was cut in two";
      EXPECT_EQ(static_cast<std::int64_t>(rest.losses.size()), *options_.steps - step);
    }
  }
}

TEST_F(Resume, AnAverageAndGroupsGoOnToo) {
  options_.optimizer = "lion";
  options_.average = 0.9;
  options_.groups = {{.names = "bias", .rate = 0.5, .weight_decay = 0}};
  const FitResult whole = train(never, false);
  const std::string expected = hash();
  for (const std::int64_t step : {1, 20}) {
    train(2 * step, false);
    EXPECT_EQ(train(never, true).test.loss, whole.test.loss);
    EXPECT_EQ(hash(), expected) << "stopped after " << step;
  }
  train(6, false);
  options_.average = 0;
  EXPECT_NE(message_of([&] { train(never, true); }).find("(stored: average 0.9; asked: average 0)"), std::string::npos);
}

TEST_F(Resume, TheBestOfAnEasierLessonIsNotKept) {
  options_.steps = 21;
  const FitResult result = train(never, false);
  EXPECT_GT(result.history.back().lesson, 0);
  for (const Metrics& at : result.history) {
    if (at.step == result.best_step) {
      EXPECT_GT(at.lesson, 0);
    }
  }
}

TEST_F(Resume, OfAFinishedTrainingChangesNothing) {
  train(never, false);
  const std::string expected = hash();
  EXPECT_TRUE(train(never, true).losses.empty());
  EXPECT_EQ(hash(), expected);
}

TEST_F(Resume, WithoutACheckpointBeginsAtTheBeginning) {
  EXPECT_EQ(static_cast<std::int64_t>(train(never, true).losses.size()), options_.steps);
}

TEST_F(Resume, OfAnotherTrainingIsRefused) {
  train(20, false);
  options_.learning_rate = 2e-2;
  try {
    train(never, true);
    FAIL() << "nothing was thrown";
  } catch (const ValueError& error) {
    const std::string message = error.what();
    EXPECT_TRUE(std::regex_search(message, std::regex("is of another training \\(stored: learning-rate 0.01; "
                                                      "asked: learning-rate 0.02\\); resume with the same options,")))
        << message;
  }
}

TEST_F(Resume, ARateIsComparedInAllItsDigits) {
  options_.learning_rate = 1e-2;
  train(20, false);
  options_.learning_rate = 1.00000001e-2;
  EXPECT_NE(message_of([&] { train(never, true); }).find("asked: learning-rate 0.0100000001)"), std::string::npos);
}

/// A label alone, which leaves the held-out samples and all scales as they are.
TEST_F(Resume, OnOtherDataIsRefused) {
  Random random(3);
  const Tensor x = random.normal({30, 4, 7});
  Tensor y = zeros({30}, i64);
  const auto training = [&](bool resume) {
    const Dataset task("own", x, y, {.classes = 6});
    Random weights = Random(1).stream("weights");
    model_ = make_model("lstm", {.input = 7, .hidden = 16, .output = 6}, weights);
    FitOptions options = options_;
    options.resume = resume;
    fit(*model_, task, options);
  };
  training(false);
  training(true);
  for (std::int64_t& label : y.mutable_values<std::int64_t>()) {
    label = 1;
    EXPECT_NE(message_of([&] { training(true); }).find("is of another training (stored: data "), std::string::npos);
    label = 0;
  }
}

TEST_F(Resume, InAnotherDtypeIsRefused) {
  train(20, false);
  const DtypeScope doubles(f64);
  const std::string message = message_of([&] { train(never, true); });
  EXPECT_NE(message.find("is of a training in f32, not in f64; resume with --dtype f32"), std::string::npos) << message;
}

TEST_F(Resume, ALimitOfTimeAloneIsNoNumberOfSteps) {
  options_.steps = no_limit;
  options_.minutes = 100;
  train(20, false);
  options_.steps = 30;
  const std::string message = message_of([&] { train(never, true); });
  EXPECT_NE(message.find("(stored: nothing of these; asked: steps 30)"), std::string::npos) << message;
}

TEST_F(Resume, OfAFileThatIsNoCheckpointIsRefused) {
  std::ofstream(options_.checkpoint) << "not a checkpoint";
  EXPECT_THROW(train(never, true), FileError);
}

TEST_F(Resume, ALossThatIsNotFiniteLeavesTheLastCheckpoint) {
  EXPECT_THROW(train(2 * 17, false, true), ValueError);
  EXPECT_EQ(step_of_checkpoint(options_.checkpoint), 14) << "of the validation before it";
}

}  // namespace
}  // namespace retrace

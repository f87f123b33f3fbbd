#include <gtest/gtest.h>
#include <retrace/core/base/threads_scope.h>
#include <retrace/models/tasks/recipes.h>
#include <retrace/models/tasks/symbols/sequence_task.h>
#include <retrace/models/training/checkpoint.h>
#include <retrace/models/training/fit.h>
#include <retrace/models/training/optimizer_choice.h>
#include <retrace/tests/errors.h>
#include <retrace/tests/temporary_folder.h>

#include <algorithm>
#include <array>
#include <memory>
#include <sstream>
#include <string>

namespace retrace {
namespace {

std::unique_ptr<SequenceModel> small_model(std::string_view name, const Task& task, std::int64_t hidden = 16) {
  Random random = Random(1).stream("weights");
  return make_model(
      name,
      {.input = task.input_size(), .hidden = hidden, .output = task.output_size(), .time = task.sequence_length()},
      random);
}

TEST(Fit, AShortTrainingLearns) {
  const SequenceTask task(sequence_rules("pair-matching"),
                          {.length = 4, .vocabulary = 4});  // one pair: the answer is the other element
  const auto model = small_model("lstm", task);
  const FitResult result = fit(*model, task, {.steps = 300, .batch = 32, .learning_rate = 1e-2});
  EXPECT_GT(result.test.metric, 0.99);
  EXPECT_LT(result.losses.back(), 0.1 * result.losses.front());
}

TEST(Fit, ARelationalMemoryLearnsToo) {
  const SequenceTask task(sequence_rules("pair-matching"), {.length = 4, .vocabulary = 4});
  const auto model = small_model("relational-rnn", task);
  const FitResult result = fit(*model, task, {.steps = 300, .batch = 32, .learning_rate = 1e-2});
  EXPECT_GT(result.test.metric, 0.99);
}

TEST(Fit, TheSameSeedGivesTheSameLossesOnOneThreadAndOnTwo) {
  for (const std::string_view name : model_names()) {
    const auto task = make_task("babi");
    const auto losses = [&](int count, std::uint64_t seed) {
      const ThreadsScope scope(count);
      const auto model = small_model(name, *task, 48);
      return fit(*model, *task, {.seed = seed, .steps = 8, .batch = 64, .test_samples = 64}).losses;
    };
    const auto one = losses(1, 3);
    EXPECT_EQ(one, losses(1, 3)) << name;
    EXPECT_EQ(one, losses(2, 3)) << name;
    EXPECT_NE(one, losses(1, 4)) << name;
  }
}

TEST(Fit, ABatchDependsOnTheSeedAndTheStepAlone) {
  const auto task = make_task("babi");
  const auto model = small_model("lstm", *task);
  const auto again = small_model("lstm", *task);
  const FitOptions options{.seed = 9, .steps = 4, .batch = 8, .test_samples = 8};
  const FitResult all = fit(*model, *task, options);
  FitOptions other = options;
  other.validation_samples = 7;
  other.validate_every = 1;
  EXPECT_EQ(all.losses, fit(*again, *task, other).losses);
}

TEST(Fit, TheBestParametersAreRestored) {
  const auto task = make_task("pair-matching");
  const auto model = small_model("lstm", *task);
  // The rate rises until it ruins the model.
  const FitOptions options{
      .seed = 2, .steps = 60, .batch = 16, .learning_rate = 10, .warm_up = 1, .validate_every = 5, .test_samples = 100};
  const FitResult result = fit(*model, *task, options);
  EXPECT_LT(result.best_step, result.steps);
  const Evaluation now = evaluate(*model, *task, Random(2).stream("validation"), options.validation_samples);
  EXPECT_EQ(now.loss, result.validation.loss);
  EXPECT_EQ(now.metric, result.validation.metric);
}

/// The first half of a lesson's samples have the label 0, the others any.
class HalfKnown final : public Task {
 public:
  explicit HalfKnown(double own) : Task("half-known", TaskKind::classification), own_(own) {}
  std::int64_t input_size() const override { return 1; }
  std::int64_t sequence_length() const override { return 1; }
  std::int64_t output_size() const override { return 10; }
  Baselines baselines() const override { return {}; }
  std::vector<Lesson> lessons() const override {
    std::vector<Lesson> lessons;
    lessons.push_back({std::make_unique<HalfKnown>(own_), 0.7, own_});
    return lessons;
  }

 private:
  void fill(Random& random, const Batch& batch) const override {
    const auto labels = batch.y.mutable_values<std::int64_t>();
    for (std::size_t k = 0; k < labels.size(); ++k) labels[k] = k < labels.size() / 2 ? 0 : random.integer(10);
  }
  double own_;
};

TEST(Fit, ALessonIsPassedByItsOwnSamplesAlone) {
  for (const double own : {0.5, 1.0}) {
    const HalfKnown task(own);
    Random random(1);
    const auto model = make_model("lstm", {.input = 1, .hidden = 4, .output = 10}, random);
    const FitResult result =
        fit(*model, task, {.steps = 150, .batch = 8, .learning_rate = 3e-2, .validate_every = 150, .test_samples = 8});
    EXPECT_EQ(result.history.back().lesson, own == 0.5 ? 1 : 0) << "of all samples 55 % can be known";
  }
}

TEST(Fit, PatienceEndsATrainingThatGainsNothing) {
  const auto task = make_task("pair-matching");
  const auto model = small_model("lstm", *task);
  const FitResult result =
      fit(*model, *task, {.steps = 1000, .batch = 4, .learning_rate = 1, .validate_every = 5, .patience = 3});
  EXPECT_LT(result.steps, 1000);
  EXPECT_EQ(result.steps, result.best_step + 15);
  EXPECT_EQ(static_cast<std::int64_t>(result.losses.size()), result.steps);
}

/// Answers in finite numbers, but the slope of a root is infinite at 0.
struct RootOfZero {
  Parameter weight;
  Linear out;
  RootOfZero(const Task& task, Random& random)
      : weight(zeros({})), out(task.input_size(), task.output_size(), random) {}
  Tensor operator()(const Tensor& x) const { return out(slice(x, {all, -1})) + sqrt(weight); }
  void visit(auto&& see) const { see("weight", weight), see("out", out); }
};

TEST(Fit, AGradientThatIsNotFiniteEndsATrainingAndChangesNothing) {
  const auto task = make_task("pair-matching");
  Random random(1);
  SequenceModelOf<RootOfZero> model(*task, random);
  const std::string before = weights_hash(model);
  const std::string message = message_of([&] { fit(model, *task, {.steps = 3, .batch = 4}); });
  EXPECT_EQ(message.substr(0, 36), "fit: the gradient norm of step 0 is ") << message;
  EXPECT_TRUE(message.ends_with("; no step was made yet, so look at the data and at how the weights begin")) << message;
  EXPECT_EQ(weights_hash(model), before);
  for (const NamedTensor& parameter : parameters(model)) EXPECT_FALSE(parameter.tensor.has_grad()) << parameter.name;
}

/// So that an error does not stand on it.
TEST(Fit, ABarThatIsLeftByAnErrorIsEnded) {
  std::ostringstream terminal;
  const auto train = [&] {
    Progress progress({&terminal, [] { return 80; }, "a run"}, 10, 0);
    progress.step(1, 0.5);
    throw ValueError("the loss is not finite");
  };
  EXPECT_THROW(train(), ValueError);
  EXPECT_TRUE(terminal.str().ends_with('\n')) << terminal.str();
}

TEST(Fit, MetricsAreAJsonLineForEveryValidation) {
  const auto task = make_task("object-tracking");
  const auto model = small_model("gru", *task);
  std::ostringstream metrics;
  fit(*model, *task, {.steps = 10, .batch = 4, .validate_every = 4, .test_samples = 8, .metrics = &metrics});
  const std::string lines = metrics.str();
  EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 3);  // after 4, 8 and 10 steps
  for (const char* key : {"\"step\":10", "\"loss\":", "\"gradient_norm\":", "\"learning_rate\":", "\"validation_mse\":",
                          "\"samples_per_second\":"})
    EXPECT_NE(lines.find(key), std::string::npos) << key;
}

/// A stream that fails after the given number of lines.
class ShortStream : public std::stringbuf {
 public:
  explicit ShortStream(int lines) : left_(lines) {}

 protected:
  int sync() override { return left_-- > 0 ? 0 : -1; }

 private:
  int left_;
};

TEST(Fit, MetricsThatCannotBeWrittenEndTheTrainingBeforeTheNextCheckpoint) {
  const TemporaryFolder folder;
  const auto task = make_task("object-tracking");
  const auto model = small_model("gru", *task);
  ShortStream buffer(2);
  std::ostream metrics(&buffer);
  const FitOptions options{.steps = 20,
                           .batch = 4,
                           .validate_every = 4,
                           .test_samples = 8,
                           .checkpoint = folder / "checkpoint.safetensors",
                           .checkpoint_seconds = 0,
                           .metrics = &metrics};
  EXPECT_THROW(fit(*model, *task, options), FileError);
  EXPECT_EQ(step_of_checkpoint(options.checkpoint), 8) << "the metrics of step 12 are not there";
}

TEST(Fit, DoublePrecisionTrainsInDoublePrecision) {
  const auto task = make_task("babi");
  std::unique_ptr<SequenceModel> model;
  {
    const DtypeScope scope(f64);
    model = small_model("lstm", *task);
  }
  const FitResult result = fit(*model, *task, {.steps = 2, .batch = 4, .test_samples = 8});
  EXPECT_EQ(parameters(*model).front().tensor.dtype(), f64);
  EXPECT_EQ(result.losses.size(), 2U);
}

TEST(Fit, ALossThatGrowsIsADivergenceThoughItStaysFinite) {
  const SequenceTask task(sequence_rules("pair-matching"), {.length = 4, .vocabulary = 4});
  const auto diverges = [&](double rate) {
    const auto model = small_model("gru", task);
    const FitResult result =
        fit(*model, task, {.steps = 60, .batch = 16, .learning_rate = rate, .validate_every = 20, .test_samples = 64});
    EXPECT_GE(result.reference_loss, std::log(double(task.output_size())));
    return result.diverged();
  };
  EXPECT_TRUE(diverges(1e6));
  EXPECT_FALSE(diverges(1e-2));
  EXPECT_FALSE(diverges(1e-9)) << "it learns nothing";
}

/// A few steps teach nothing, and a batch of two samples says little: that alone is no divergence.
TEST(Fit, NoTaskDivergesInAShortTraining) {
  for (const std::string_view name : task_names())
    for (const std::string_view kind : {"lstm", "attention"}) {
      const auto task = make_task(name);
      const auto model = small_model(kind, *task);
      const FitResult result = fit(
          *model, *task, {.steps = 3, .batch = 2, .learning_rate = 1e-2, .validation_samples = 64, .test_samples = 2});
      EXPECT_FALSE(result.diverged()) << name << ' ' << kind;
    }
}

/// Labels without a reason are learned by heart, so that other samples have ever larger losses.
TEST(Fit, AModelThatOverfitsDoesNotDiverge) {
  Random random(1);
  const Dataset noise("noise", random.normal({200, 1, 40}), random.integers({200}, 2));
  const auto model = small_model("attention", noise);
  const FitResult result = fit(*model, noise, {.steps = 600, .batch = 16, .learning_rate = 1e-2});
  EXPECT_GT(result.history.back().validation.loss, 2 * result.reference_loss);
  EXPECT_FALSE(result.diverged());
}

TEST(Fit, OptionsWithoutMeaningAreRefused) {
  const auto task = make_task("babi");
  const auto model = small_model("lstm", *task);
  const auto message = [&](const FitOptions& options) { return message_of([&] { fit(*model, *task, options); }); };
  EXPECT_EQ(message({.steps = 0}), "fit: steps is 0; it has to be above 0");
  EXPECT_EQ(message({.batch = -1}), "fit: batch is -1; it has to be above 0");
  EXPECT_EQ(message({.learning_rate = 0}), "fit: learning_rate is 0; it has to be above 0");
  EXPECT_EQ(message({.warm_up = 2}), "fit: warm_up is 2; it has to be from 0 to 1");
  EXPECT_EQ(message({.patience = -1}), "fit: patience is -1; it has to be a number of 0 or more");
  EXPECT_EQ(message({.accumulate = 0}), "fit: accumulate is 0; it has to be above 0");
  EXPECT_EQ(message({.minutes = -1}), "fit: minutes is -1; it has to be a number of 0 or more");
  EXPECT_EQ(message({.learning_rate = std::numeric_limits<double>::infinity()}),
            "fit: learning_rate is inf; it has to be a finite number");
  EXPECT_EQ(message({.b2 = 1}), "fit: b2 is 1; it has to be from 0 to below 1");
  EXPECT_EQ(message({.b2 = -0.5}), "fit: b2 is -0.5; it has to be from 0 to below 1");
  for (const char* optimizer : {"lion", "rmsprop", "sgd"})
    EXPECT_EQ(message({.optimizer = optimizer, .b2 = 0.9}),
              text("fit: ", optimizer, " has no b2, which is for adam, adamw, muon, nadam and radam; leave it out"));
  EXPECT_EQ(message({.weight_decay = std::numeric_limits<double>::quiet_NaN()}),
            "fit: weight_decay is nan; it has to be a number of 0 or more");
  EXPECT_EQ(message({.checkpoint_seconds = std::numeric_limits<double>::quiet_NaN()}),
            "fit: checkpoint_seconds is nan; it has to be a number of 0 or more");
  EXPECT_EQ(message({.resume = true}), "fit: there is no checkpoint to resume from; say which file");
  EXPECT_EQ(message({.optimizer = "adma"}),
            "fit: there is no optimizer named 'adma'; did you mean adam (known: adafactor, adam, adamw, lion, muon, "
            "nadam, radam, "
            "rmsprop, sgd)");
  EXPECT_EQ(message({.schedule = "cosin"}),
            "fit: there is no schedule named 'cosin'; did you mean cosine (known: cosine, linear, trapezoid, steps, "
            "constant)");
}

TEST(Fit, EveryOptimizerLearns) {
  const SequenceTask task(sequence_rules("pair-matching"), {.length = 4, .vocabulary = 4});
  for (const std::string_view name : optimizer_names()) {
    const auto model = small_model("lstm", task);
    FitOptions options{.steps = 300,
                       .batch = 32,
                       .learning_rate = name == "sgd"         ? 0.3
                                        : name == "adafactor" ? 0.1
                                        : name == "lion"      ? 3e-3
                                                              : 1e-2,
                       .test_samples = 500};
    options.optimizer = name;
    const FitResult result = fit(*model, task, options);
    EXPECT_LT(result.losses.back(), 0.5 * result.losses.front()) << name;
  }
}

TEST(Fit, EveryScheduleRisesAndThenDoesWhatItSays) {
  FitOptions options{.steps = 100, .learning_rate = 1, .warm_up = 0.1};
  const auto rates = [&](const char* schedule) {
    options.schedule = schedule;
    EXPECT_DOUBLE_EQ(learning_rate_at(0, options), 0.1) << schedule;
    EXPECT_DOUBLE_EQ(learning_rate_at(9, options), 1) << schedule;
    return std::array{learning_rate_at(10, options), learning_rate_at(55, options), learning_rate_at(99, options)};
  };
  EXPECT_NEAR(rates("cosine")[1], 0.5, 1e-12);
  EXPECT_NEAR(rates("linear")[1], 0.5, 1e-12);
  EXPECT_NEAR(rates("linear")[2], 1 / 90.0, 1e-12);
  EXPECT_EQ(rates("trapezoid")[1], 1.0);
  EXPECT_NEAR(rates("trapezoid")[2], 5 / 90.0, 1e-12);
  EXPECT_EQ(rates("constant"), (std::array{1.0, 1.0, 1.0}));
  EXPECT_EQ(rates("steps"), (std::array{1.0, 0.25, 0.0625}));
}

TEST(Fit, AccumulatedBatchesAreOneLargeBatch) {
  const DtypeScope scope(f64);
  const SequenceTask task(sequence_rules("pair-matching"), {.length = 4, .vocabulary = 4});
  const auto losses = [&](std::int64_t accumulate) {
    const auto model = small_model("lstm", task);
    return fit(*model, task, {.steps = 20, .batch = 16, .accumulate = accumulate, .test_samples = 16}).losses;
  };
  const auto once = losses(1), thrice = losses(3);
  EXPECT_NE(once, thrice);
  // The first update of three batches: the mean of the losses of the first three updates that do not move.
  const auto model = small_model("lstm", task);
  double mean = 0;
  for (std::uint64_t k = 0; k < 3; ++k) {
    Random random = Random(0).stream("batch").stream(k);
    const Batch batch = task.sample(random, 16);
    mean += task_loss(task, (*model)(batch.x), batch.y).item() / 3;
  }
  EXPECT_NEAR(thrice.front(), mean, 1e-12);
}

TEST(Fit, StopsAtItsTargetAndAtItsTime) {
  const SequenceTask task(sequence_rules("pair-matching"), {.length = 4, .vocabulary = 4});
  const auto model = small_model("lstm", task);
  FitOptions options{
      .steps = 100000, .batch = 32, .learning_rate = 1e-2, .warm_up = 0, .validate_every = 10, .until = 0.9};
  FitResult result = fit(*model, task, options);
  EXPECT_EQ(result.stopped_by, StopReason::target);
  EXPECT_GE(result.validation.metric, 0.9);
  EXPECT_EQ(result.steps, result.history.back().step);
  options = {.steps = 100000, .batch = 32, .minutes = 1e-3};
  EXPECT_EQ(fit(*model, task, options).stopped_by, StopReason::minutes);
}

TEST(Fit, TheLearningRateFallsWithTheTimeWhereThatRunsOutFirst) {
  const SequenceTask task(sequence_rules("pair-matching"), {.length = 4, .vocabulary = 4});
  const auto model = small_model("lstm", task);
  const FitOptions options{.steps = 1000000,
                           .batch = 1,
                           .learning_rate = 1,
                           .schedule = "linear",
                           .validate_every = 1,
                           .validation_samples = 1,
                           .test_samples = 1,
                           .minutes = 0.02};
  const FitResult result = fit(*model, task, options);
  EXPECT_EQ(result.stopped_by, StopReason::minutes);
  double highest = 0;
  for (const Metrics& metrics : result.history) highest = std::max(highest, metrics.last_step.learning_rate);
  EXPECT_GT(highest, 0.6);
  EXPECT_LT(result.history.back().last_step.learning_rate, 0.4);
}

}  // namespace
}  // namespace retrace

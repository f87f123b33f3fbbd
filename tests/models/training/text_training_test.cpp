#include <gtest/gtest.h>
#include <retrace/core/base/threads_scope.h>
#include <retrace/models/training/checkpoint.h>
#include <retrace/models/training/fit.h>
#include <retrace/models/training/trainer.h>
#include <retrace/ops/ops.h>
#include <retrace/tests/models/training/random_text.h>
#include <retrace/tests/models/training/text_runs.h>
#include <retrace/tests/ops/gradient_support.h>
#include <retrace/tests/temporary_folder.h>

#include <atomic>
#include <cmath>
#include <string>
#include <vector>

namespace retrace {
namespace {

std::string repeated(const std::string& part, int times) {
  std::string result;
  for (int k = 0; k < times; ++k) result += part;
  return result;
}

Baselines baselines_of(const TextData& data) { return TextTask(data, 8).baselines(); }

const FitOptions short_fit{.steps = 30, .batch = 4, .learning_rate = 1e-2, .validate_every = 7};

TEST(TextTraining, AnUntrainedModelIsAboutAsGoodAsChance) {
  const TextData data = characters_of(random_text(2000));
  const double chance = baselines_of(data).chance;
  EXPECT_DOUBLE_EQ(chance, 4) << "16 characters are 4 bits";
  for (const std::string_view name : model_names()) {
    const Evaluation evaluation = tested_on(untrained(data, name), data.test());
    const bool bounded = name != "mlstm" && name != "transformer";  // its features
    EXPECT_NEAR(evaluation.metric, chance, bounded ? 0.7 : 0.9) << name;
    EXPECT_NEAR(evaluation.metric * std::log(2), evaluation.loss, 1e-12) << name;
  }
}

TEST(TextTraining, TheMlpsOfAttentionHaveAsManyFeaturesAsChosen) {
  const TextData data = characters_of(random_text(200));
  const auto count = [&](const char* name, std::int64_t features) {
    return count_parameters(*untrained(data, name, 8, 16, {.layers = 3, .feed_forward = features}).model);
  };
  for (const char* name : {"attention", "transformer"})
    EXPECT_EQ(count(name, 12) - count(name, 11), 3 * (16 + 16 + 1)) << name;
}

TEST(TextTraining, SegmentsMayBeShort) {
  const TextData data = characters_of(random_text(200));
  for (const std::string_view name : model_names())
    for (const std::int64_t length : {1, 2, 3}) {
      const Evaluation evaluation = tested_on(untrained(data, name, length), data.test());
      EXPECT_TRUE(std::isfinite(evaluation.loss)) << name << ' ' << length;
    }
}

TEST(TextTraining, TheUnigramBaselineKnowsTheFrequencies) {
  const Baselines of_noise = baselines_of(characters_of(random_text(20000)));
  EXPECT_NEAR(of_noise.trivial, of_noise.chance, 0.02);
  const Baselines uneven = baselines_of(characters_of(repeated("aaab", 5000)));
  EXPECT_DOUBLE_EQ(uneven.chance, 1);
  EXPECT_NEAR(uneven.trivial, 0.8113, 1e-3) << "the entropy of 3/4 and 1/4, in bits";
  const Baselines words = baselines_of(make_text_data(repeated("a a a b ", 5000), TokenKind::words, "a text"));
  EXPECT_NEAR(words.chance, 3, 1e-12) << "a, b and what is not known";
  EXPECT_NEAR(words.trivial, std::exp2(0.8113), 1e-2);
}

/// Rows of their own, segments of their own: the test is the mean over one long run of each row.
TEST(TextTraining, ACarriedStateGivesWhatOneLongRunGives) {
  const DtypeScope doubles(f64);
  const TextData data = characters_of(random_text(4000));
  const TokenIds ids = data.test();
  for (const std::string_view name : {"lstm", "gru", "rnn", "rmc"}) {
    const StoredRun run = untrained(data, name, 7);
    const Batch whole = Streams(ids, 1, std::ssize(ids)).segment(0);
    const double loss = cross_entropy(run.model->continued(whole.x, {}).answers, whole.y).item();
    EXPECT_NEAR(tested_on(run, ids).loss, loss, 1e-12) << name;
  }
}

/// The second step of a training continues from the state after the first; the first step of a pass has no state.
TEST(TextTraining, StepsCarryTheState) {
  const DtypeScope doubles(f64);
  const TextData data = characters_of(random_text(80));
  const StoredRun run = untrained(data, "lstm", 8), twin = untrained(data, "lstm", 8);
  FitOptions options = short_fit;
  options.learning_rate = 1e-300;  // the weights stay
  Trainer training(*run.model, *run.task, options);
  const Streams streams(data.training(), 4, 8);
  ASSERT_EQ(streams.segments(), 3);
  SequenceState state;
  for (std::int64_t step = 0; step < 5; ++step) {
    if (step % 3 == 0) state = {};
    const Batch segment = streams.segment(step % 3);
    auto [logits, next] = twin.model->continued(segment.x, state);
    const double loss = cross_entropy(logits, segment.y, {.ignore_index = no_answer}).item();
    EXPECT_NEAR(training.step().loss, loss, 1e-12) << step;
    state = next;
  }
}

TEST(TextTraining, APeriodicTextIsLearned) {
  const TextData data = characters_of(repeated("never odd or even; ", 150));
  for (const std::string_view name : model_names()) {
    const StoredRun run = untrained(data, name, 16, 32);
    const FitResult result = fit(*run.model, *run.task, {.steps = 400, .batch = 4, .learning_rate = 1e-2});
    // Attention does not know at the first characters of a segment where in the text it is.
    if (name == "attention")
      EXPECT_LT(result.test.metric, 0.4) << name;
    else
      EXPECT_LT(result.test.metric, 0.1) << name;
  }
}

TEST(TextTraining, WordsAreLearned) {
  const TextData data = make_text_data(repeated("one two three two\n", 150), TokenKind::words, "a text");
  const StoredRun run = untrained(data, "gru", 8, 24);
  const FitOptions options{.steps = 150, .batch = 4, .learning_rate = 2e-2};
  EXPECT_LT(fit(*run.model, *run.task, options).test.metric, 1.15) << "1 is certainty";
}

TEST(TextTraining, TheLossesDoNotDependOnTheThreads) {
  const TextData data = characters_of(random_text(3000));
  const auto losses = [&](int count) {
    const ThreadsScope scope(count);
    const StoredRun run = untrained(data, "lstm", 32, 64);
    return fit(*run.model, *run.task, {.steps = 4, .batch = 32}).losses;
  };
  EXPECT_EQ(losses(1), losses(2));
}

class TextResume : public testing::Test {
 protected:
  struct End {
    FitResult result;
    std::string hash;
  };
  /// A training from its start or its checkpoint, to its end or until `stop_after` steps are made.
  End train(const TextData& data, std::string_view name, bool resume, std::int64_t stop_after = 1000) {
    const StoredRun run = untrained(data, name, 5, 16, form_);
    std::atomic<bool> stop{false};
    FitOptions options{.steps = 30, .batch = 4, .accumulate = 2, .learning_rate = 1e-2, .validate_every = 1};
    options.checkpoint = checkpoint_;
    options.checkpoint_seconds = 0;
    options.resume = resume;
    options.stop = &stop;
    options.model = describe_run({.task = "text", .model = run.spec}, *run.task);
    options.on_validation = [&](const Metrics& metrics) {
      stop = metrics.step >= stop_after;
      return FitAction::go_on;
    };
    FitResult result = fit(*run.model, *run.task, options);
    return {std::move(result), weights_hash(*run.model)};
  }

 private:
  TemporaryFolder folder_;

 protected:
  std::string checkpoint_ = folder_ / "checkpoint.safetensors";
  ModelForm form_ = {};
};

TEST_F(TextResume, AfterAnyStepEndsWithTheSameWeights) {
  const TextData data = characters_of(random_text(300));  // 14 segments a pass, 2 a step
  for (const std::string_view name : model_names()) {
    const End whole = train(data, name, false);
    EXPECT_EQ(whole.result.steps, 30);
    for (const std::int64_t step : {1, 6, 7, 29}) {
      EXPECT_EQ(train(data, name, false, step).result.stopped_by, StopReason::signal);
      EXPECT_EQ(step_of_checkpoint(checkpoint_), step);
      const End rest = train(data, name, true);
      EXPECT_EQ(rest.hash, whole.hash) << name << " stopped after " << step;
      EXPECT_EQ(rest.result.losses.back(), whole.result.losses.back()) << name << " stopped after " << step;
      EXPECT_EQ(rest.result.test.loss, whole.result.test.loss);
    }
  }
}

TEST_F(TextResume, LayersAndDropoutGoOnToo) {
  const TextData data = characters_of(random_text(300));
  for (const std::string_view name : {"lstm", "gru", "rmc", "attention"}) {
    form_ = {.layers = 2, .dropout = 0.3};
    const End whole = train(data, name, false);
    for (const std::int64_t step : {1, 7}) {
      train(data, name, false, step);
      EXPECT_EQ(train(data, name, true).hash, whole.hash) << name << " stopped after " << step;
    }
    train(data, name, false, 2);
    form_.dropout = 0.2;
    EXPECT_THROW(train(data, name, true), ValueError) << "it is of another training";
  }
}

TEST_F(TextResume, OfAnotherTextIsRefused) {
  train(characters_of(random_text(300)), "lstm", false, 2);
  std::string other = random_text(300);
  std::swap(other[10], other[11]);
  EXPECT_THROW(train(characters_of(other), "lstm", true), ValueError);
}

TEST_F(TextResume, WithAnotherTextForTheTestIsRefused) {
  TextData data = characters_of(random_text(300));
  data.own_test = data.vocabulary.encode(random_text(40));
  const End whole = train(data, "lstm", false);
  train(data, "lstm", false, 2);
  EXPECT_EQ(train(data, "lstm", true).result.test.loss, whole.result.test.loss);
  train(data, "lstm", false, 2);
  data.own_test->pop_back();
  EXPECT_THROW(train(data, "lstm", true), ValueError);
  data.own_test.reset();
  EXPECT_THROW(train(data, "lstm", true), ValueError);
}

/// A loss and a metric of one's own are for texts, too.
TEST(TextTraining, TakesMeasuresOfItsOwn) {
  const StoredRun run = untrained(characters_of(random_text(400)), "rnn");
  FitOptions options = short_fit;
  options.measures = {
      .loss = [](const Tensor& output,
                 const Batch& batch) { return 2 * cross_entropy(output, batch.y, {.ignore_index = no_answer}); },
      .metric = [](const Tensor&, const Batch& batch) { return static_cast<double>(batch.x.dim(1)); }};
  const Evaluation own = Trainer(*run.model, *run.task, options).test(),
                   plain = Trainer(*run.model, *run.task, short_fit).test();
  EXPECT_NEAR(own.loss, 2 * plain.loss, 1e-5);
  EXPECT_GT(own.metric, 1);
  EXPECT_LE(own.metric, 8);
}

TEST(TextTraining, IsValidatedAndTestedOnTextsOfTheirOwn) {
  TextData data = characters_of(random_text(400));
  data.own_validation = data.vocabulary.encode(repeated("ab", 30));
  data.own_test = data.vocabulary.encode(repeated("cde", 30));
  const StoredRun run = untrained(data, "gru");
  const Trainer training(*run.model, *run.task, short_fit);
  EXPECT_EQ(training.validate().loss, tested_on(run, *data.own_validation).loss);
  EXPECT_EQ(training.test().loss, tested_on(run, *data.own_test).loss);
}

TEST(TextTraining, Errors) {
  const auto refusal = [](TextData data) {
    const StoredRun run = untrained(std::move(data), "lstm", 30);
    return message_of([&] { Trainer(*run.model, *run.task, short_fit); });
  };
  EXPECT_EQ(refusal(characters_of(random_text(100))),
            "text: 100 characters, of which 90 are to train on, are too few for a batch of 4 segments of 30; give a "
            "longer text, or a smaller --batch or --length");
  TextData short_test = characters_of(random_text(400));
  short_test.own_test = {1};
  EXPECT_EQ(refusal(short_test), "text: the text for the test has 1 characters; at least 2 are needed");
  expect_error<ValueError>(
      [&] { untrained(characters_of(random_text(100)), "lsmt"); },
      "make_model: there is no model named 'lsmt'; did you mean lstm (known: " + listed_models(model_names()) + ")");
}

}  // namespace
}  // namespace retrace

#include <gtest/gtest.h>
#include <retrace/core/base/error.h>
#include <retrace/models/reports/comparison/comparison_report.h>
#include <retrace/models/training/model_info.h>
#include <retrace/models/training/run.h>
#include <retrace/tests/json.h>
#include <retrace/tests/models/command_line.h>
#include <retrace/tests/temporary_folder.h>

#include <cmath>
#include <fstream>
#include <memory>
#include <sstream>

namespace retrace {
namespace {

TEST(Statistics, OfKnownNumbers) {
  const std::vector<double> numbers{2, 4, 4, 4, 5, 5, 7, 9};
  const Summary sample = summarise(numbers);
  EXPECT_DOUBLE_EQ(sample.mean, 5);
  EXPECT_NEAR(sample.deviation, 2.13809, 1e-5);
  EXPECT_NEAR(sample.half_width, 2.365 * 2.13809 / std::sqrt(8), 1e-4);
  EXPECT_TRUE(std::isinf(summarise(std::vector{1.0}).half_width)) << "one number says nothing of its spread";
  EXPECT_THROW(summarise(std::vector<double>{}), ValueError);
}

TEST(Statistics, DifferencesOfPairsCancelWhatIsShared) {
  const std::vector<double> a{1, 10, 100}, b{0, 9, 99};
  EXPECT_DOUBLE_EQ(summarise_differences(a, b).mean, 1);
  EXPECT_DOUBLE_EQ(summarise_differences(a, b).half_width, 0);
  EXPECT_THROW(summarise_differences(a, std::vector{1.0}), ValueError);
}

CompareOptions small_comparison() {
  CompareOptions options{.run = {.task = "pair-matching", .model = {.sizes = {.hidden = 16}}},
                         .models = {"lstm", "gru", "relational-rnn:gated"},
                         .seeds = 2,
                         .learning_rates = {1e-2}};
  options.run.fit = {.steps = 20,
                     .batch = 8,
                     .learning_rate = 1e-2,
                     .validate_every = 10,
                     .validation_samples = 32,
                     .test_samples = 64};
  return options;
}

TEST(Compare, ModelsHaveTheRatesOfTheirRecipesAndTheStepsOfTheTasks) {
  CompareOptions options = small_comparison();
  options.models = {"lstm", "rmc"};
  options.seeds = 1;
  options.learning_rates = {};
  options.run.fit.learning_rate = {};
  const Comparison comparison = compare(options);
  for (const ModelResult& result : comparison.results) {
    const Recipe recipe = recipe_for("pair-matching", result.name);
    EXPECT_EQ(result.learning_rate, recipe.learning_rate) << result.name;
    EXPECT_EQ(result.schedule, recipe.schedule) << result.name;
    EXPECT_EQ(result.runs[0].steps, 20) << result.name;
  }
  EXPECT_NE(comparison.results[0].learning_rate, comparison.results[1].learning_rate);
  EXPECT_NE(to_text(comparison).find("cosine (lstm), trapezoid (rmc)"), std::string::npos) << to_text(comparison);
}

TEST(Compare, SaysWhoseOptimiserAndScheduleIsWhich) {
  CompareOptions options = small_comparison();
  options.run.task = "double";
  options.models = {"lstm", "gru"};
  options.seeds = 1;
  const Comparison comparison = compare(options);
  const Recipe lstm = recipe_for("double", "lstm"), gru = recipe_for("double", "gru");
  ASSERT_NE(lstm.optimizer, gru.optimizer);
  const std::string words = budget_in_words(comparison).back();
  EXPECT_TRUE(words.starts_with(text("Optimiser: ", lstm.optimizer, " (lstm), ", gru.optimizer, " (gru), schedule ",
                                     lstm.schedule, " (lstm), ", gru.schedule, " (gru), ")))
      << words;
}

TEST(Compare, AModelMayHaveARateOfItsOwn) {
  CompareOptions options = small_comparison();
  options.models = {"lstm@0.5", "gru", "relational-rnn:gated@0.002"};
  options.seeds = 1;
  const Comparison comparison = compare(options);
  EXPECT_EQ(comparison.results[0].learning_rate, 0.5);
  EXPECT_EQ(comparison.results[1].learning_rate, 1e-2);
  EXPECT_EQ(comparison.results[2].learning_rate, 2e-3);
  for (const char* name : {"lstm@", "lstm@fast", "lstm@0", "lstm@-1", "lstm@1e-2x"}) {
    options.models = {name};
    EXPECT_THROW(compare(options), ValueError) << name;
  }
}

TEST(Compare, PartsOfAMemoryGoToTheModelsThatHaveThem) {
  CompareOptions options = small_comparison();
  options.models = {"lstm", "rmc"};
  options.seeds = 1;
  const std::int64_t before = compare(options).results[1].parameters;
  options.run.model.parts.mlp_layers = 3;
  EXPECT_GT(compare(options).results[1].parameters, before);
  options.models = {"lstm", "gru"};
  EXPECT_THROW(compare(options), ValueError) << "none of them has it";
}

TEST(Compare, EveryModelSeesTheSameBatchesAndEverySeedOnce) {
  const Comparison comparison = compare(small_comparison());
  ASSERT_EQ(comparison.results.size(), 3U);
  for (const ModelResult& result : comparison.results) {
    ASSERT_EQ(result.runs.size(), 2U);
    EXPECT_NE(result.runs[0].losses, result.runs[1].losses) << result.name;
    EXPECT_DOUBLE_EQ(result.value.mean, (result.values[0] + result.values[1]) / 2);
  }
  RunOptions alone = small_comparison().run;
  alone.model.name = "gru";
  alone.fit.seed = 1;
  auto run = prepare(alone);
  run.train();
  EXPECT_EQ(run.fit.losses, comparison.results[1].runs[1].losses) << "as `retrace train` would";
  EXPECT_EQ(comparison.results[0].against_first.mean, 0);
  EXPECT_DOUBLE_EQ(comparison.results[1].against_first.mean,
                   comparison.results[1].value.mean - comparison.results[0].value.mean);
}

TEST(Compare, SizesAreMatchedToTheFirstModel) {
  CompareOptions options = small_comparison();
  options.run.model.sizes.hidden = 48;
  options.run.model.sizes.slot_size = 32;
  options.seeds = 1;
  options.match = Match::parameters;
  for (const ModelResult& result : compare(options).results)
    EXPECT_NEAR(static_cast<double>(result.parameters), 14000, 2200) << result.name << result.hidden;
}

/// An rmc's answer layers have sizes of their own, below which it cannot be made.
TEST(Compare, SaysWhichSizesCouldNotBeMatchedAndHowFarApartTheyAre) {
  CompareOptions options = small_comparison();
  options.seeds = 1;
  options.run.fit.steps = 1;
  options.run.model.sizes.hidden = 32;
  options.models = {"lstm", "gru", "rmc"};
  const std::string matched = "Sizes are matched by the number of ";
  options.match = Match::none;
  EXPECT_NE(on_one_line(to_text(compare(options))).find("Sizes are as given: not matched."), std::string::npos);
  options.match = Match::parameters;
  const Comparison comparison = compare(options);
  const std::int64_t lstm = comparison.results[0].parameters, rmc = comparison.results[2].parameters;
  ASSERT_GT(rmc, 2 * lstm);
  const std::string page = on_one_line(to_text(comparison));
  EXPECT_EQ(page.find(matched), std::string::npos) << page;
  EXPECT_NE(page.find(text("Sizes could not all be matched by the number of parameters: lstm has ", lstm, "; rmc has ",
                           rmc, " (")),
            std::string::npos)
      << page;
  EXPECT_EQ(page.find("gru has"), std::string::npos) << page;
  options.models = {"lstm", "gru"};
  EXPECT_NE(on_one_line(to_text(compare(options))).find(matched + "parameters."), std::string::npos);
  options.match = Match::flops;
  EXPECT_NE(on_one_line(to_text(compare(options))).find(matched + "operations of a sample."), std::string::npos);
}

TEST(Compare, TablesFitATerminal) {
  CompareOptions options = small_comparison();
  options.seeds = 2;
  options.run.fit.steps = 1;
  options.models = {"relational-rnn:notebook", "relational-rnn:gated", "lstm"};
  std::istringstream lines(to_text(compare(options)));
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80U + 10) << line;  // ± has two bytes
}

TEST(Compare, TheLearningRateOfTheLowestValidationLossIsTaken) {
  CompareOptions options = small_comparison();
  options.models = {"lstm"};
  options.seeds = 1;
  options.run.fit.steps = 100;
  options.learning_rates = {1e-9, 1e-2, 1e39};  // does nothing, works, explodes
  const ModelResult result = compare(options).results.front();
  EXPECT_EQ(result.learning_rate, 1e-2);
  EXPECT_EQ(result.tried.size(), 3U);
}

TEST(Compare, ThePageSaysWhatWasDone) {
  const Comparison comparison = compare(small_comparison());
  const std::string page = to_html(comparison);
  for (const char* words :
       {"<svg", "relational-rnn:gated", "20 updates of 8 samples", "2 seeds", "not matched", "adam", "best possible"})
    EXPECT_NE(page.find(words), std::string::npos) << words;
  EXPECT_EQ(page.find("http://", page.find("</svg>")), std::string::npos) << "the page needs nothing else";
  EXPECT_NE(to_text(comparison).find("test accuracy"), std::string::npos);
  const Plot plot = learning_curves(comparison);
  ASSERT_EQ(plot.curves.size(), 3U);
  EXPECT_EQ(plot.curves[0].x, (std::vector<double>{80, 160}));
}

/// Steps so large that only numbers which are squashed stay finite.
TEST(Compare, ARunThatLeavesTheFiniteNumbersIsNotedAndLeftOut) {
  CompareOptions options = small_comparison();
  options.run.fit.learning_rate = 1e9;
  options.learning_rates = {};
  RunOptions lstm = options.run, bare = options.run;
  lstm.model.name = "lstm", bare.model.name = "rmc";
  bare.model.parts = {.gate = MemoryGate::none, .layer_norm = false};
  const Comparison comparison = compare(options, {{"lstm", lstm}, {"bare", bare}});
  EXPECT_EQ(comparison.results[0].values.size(), 2U);
  EXPECT_EQ(comparison.results[1].values.size(), 0U);
  ASSERT_EQ(comparison.results[1].failures.size(), 2U);
  EXPECT_EQ(comparison.results[1].failures[1].find("seed 1: the loss of step "), 0U);
  EXPECT_EQ(learning_curves(comparison).curves.size(), 1U);
  EXPECT_NE(to_text(comparison).find("Left out: bare, seed 0: the loss of step "), std::string::npos);
  EXPECT_THROW(compare(options, {{"bare", bare}, {"lstm", lstm}}), ValueError) << "nothing is left to compare with";
}

TEST(Compare, BadOptionsAreRefused) {
  CompareOptions options = small_comparison();
  options.models = {};
  EXPECT_THROW(compare(options), ValueError);
  options.models = {"lstm", "lstn"};
  EXPECT_THROW(compare(options), ValueError);
  options = small_comparison();
  options.seeds = 0;
  EXPECT_THROW(compare(options), ValueError);
}

/// A text to learn, in a file that goes with this object.
class TextComparison : public testing::Test {
 protected:
  void SetUp() override {
    std::ofstream file(text_);
    for (int line = 0; line < 100; ++line) file << "row row row your boat, gently down the stream\n";
  }
  CompareOptions options() const {
    return {.run = {.task = "text",
                    .model = {.sizes = {.hidden = 16}},
                    .task_options = {.length = 8, .text = text_},
                    .fit = {.steps = 20, .batch = 4, .validate_every = 10}},
            .models = {"lstm", "attention", "rmc"},
            .seeds = 2,
            .learning_rates = {}};
  }

  TemporaryFolder own_;
  std::string text_ = own_ / "rhyme.txt";
};

TEST_F(TextComparison, TrainsWhatTrainTextTrains) {
  const Comparison comparison = compare(options());
  ASSERT_EQ(comparison.results.size(), 3U);
  for (const ModelResult& result : comparison.results) {
    RunOptions alone = options().run;
    alone.model.name = result.name;
    alone.fit.seed = 1;
    auto run = prepare(alone);
    run.train();
    EXPECT_EQ(result.values.at(1), run.fit.test.metric) << result.name;
    EXPECT_GT(result.flops_a_sample, result.parameters) << result.name << ", of several tokens";
  }
  EXPECT_GT(comparison.threshold, 0);
  const auto json = Json::parse(to_json(comparison));
  EXPECT_EQ(json["task"], "text");
  EXPECT_EQ(json["metric"], "bpc");
  const std::string words = to_text(comparison);
  EXPECT_NE(words.find("test bpc"), std::string::npos) << words;
  EXPECT_EQ(words.find("best possible"), std::string::npos) << words;
  EXPECT_EQ(words.find("fresh samples"), std::string::npos) << words;
}

TEST_F(TextComparison, LowerBitsReachTheThreshold) {
  CompareOptions of_all = options();
  of_all.models = {"gru"};
  of_all.threshold = 1e9;
  EXPECT_EQ(compare(of_all).results.front().samples_to_threshold, (std::vector<double>{40, 40}));
  of_all.threshold = 0;
  EXPECT_TRUE(compare(of_all).results.front().samples_to_threshold.empty());
}

TEST_F(TextComparison, MatchesTheSizes) {
  CompareOptions matched = options();
  matched.run.model.sizes.hidden = 48;
  matched.run.fit.steps = 1;
  matched.match = Match::parameters;
  const Comparison comparison = compare(matched);
  const auto goal = static_cast<double>(comparison.results.front().parameters);
  for (const ModelResult& result : comparison.results)
    EXPECT_NEAR(static_cast<double>(result.parameters) / goal, 1, 0.15) << result.name;
}

TEST(Compare, TheSameModelTwiceIsRefused) {
  const auto refusal = [](const std::string& models) {
    const Outcome outcome = run_command({"compare", "parity", "--models", models, "--steps", "1"});
    EXPECT_EQ(outcome.status, 2) << models;
    return outcome.messages;
  };
  EXPECT_NE(refusal("lstm,gru,lstm").find("lstm and lstm are the same model; leave one out"), std::string::npos);
  EXPECT_NE(refusal("relational-rnn,relational-rnn:cell").find("are the same model"), std::string::npos);
  EXPECT_NE(refusal("lstm@0.01,lstm@1e-2").find("are the same model"), std::string::npos);
  EXPECT_EQ(run_command({"compare", "parity", "--models", "rnn@0.01,rnn@0.02,rnn", "--steps", "1", "--seeds", "1",
                         "--batch", "2", "--test-samples", "4", "--quiet"})
                .status,
            0);
}

/// A table of 30 lines, of which 6 are for the test.
class CompareOnData : public testing::Test {
 protected:
  CompareOnData() {
    std::ofstream file(folder / "data.csv");
    file << ",a,b,kind\n";
    for (int i = 0; i < 30; ++i) file << i << "," << 7 * i % 5 << "," << i * 0.5 << "," << i % 2 << "\n";
  }
  Outcome run(std::vector<std::string> words) const {
    for (const char* word : {"--label", "kind", "--steps", "2", "--quiet"}) words.emplace_back(word);
    words.insert(words.begin() + 1, {"data", "--data", folder / "data.csv"});
    const Outcome outcome = run_command(words);
    EXPECT_EQ(outcome.status, 0) << outcome.messages;
    return outcome;
  }

  const TemporaryFolder folder;
};

TEST_F(CompareOnData, SaysOnHowManySamplesItWasTested) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"compare", "--models", "rnn", "--seeds", "1"},
        std::vector<std::string>{"ablate", "--model", "rmc", "--factors", "gate", "--seeds", "1"}}) {
    const std::string results = on_one_line(run(words).results);
    EXPECT_NE(results.find("tested on 6 samples that were held out"), std::string::npos) << results;
    EXPECT_EQ(results.find("fresh"), std::string::npos);
  }
}

TEST_F(CompareOnData, EveryCommandThatLearnsSaysWhatItLeavesOut) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"train"}, std::vector<std::string>{"compare", "--models", "rnn", "--seeds", "1"},
        std::vector<std::string>{"tune", "--model", "rnn", "--rounds", "1"}})
    EXPECT_NE(run(words).messages.find("left out: the column without a name"), std::string::npos) << words.front();
}

}  // namespace
}  // namespace retrace

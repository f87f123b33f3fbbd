#include <gtest/gtest.h>
#include <retrace/models/reports/tuning/tuning.h>
#include <retrace/tests/json.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace retrace {
namespace {

/// A search for pair matching, whose plateau is at 1/3; its trainings are only made up.
TuneOptions small_search() {
  TuneOptions options{.run = {.task = "pair-matching", .model = {.name = "rmc"}}};
  options.learning_rates = {1e-1, 1e-2, 1e-3, 1e-4};
  options.schedules = {"trapezoid"};
  options.scales = {1};
  options.run.fit = {.steps = 400, .validation_samples = 1024};
  return options;
}

FitResult ended_with(double metric, double loss) {
  FitResult result;
  result.validation = result.test = {.loss = loss, .metric = metric};
  return result;
}

TEST(Tune, TheBetterHalfGoesOnWithTwiceTheSteps) {
  TuneOptions options = small_search();
  std::map<double, std::vector<std::int64_t>> trained;
  options.train = spread_over(nullptr, [&](const RunOptions& run, const std::string&) {
    const double rate = *run.fit.learning_rate;
    trained[rate].push_back(*run.fit.steps);
    return ended_with(1 - std::abs(std::log10(rate) + 2.1) / 10, 1);
  });
  const Tuning tuning = tune(options);
  EXPECT_EQ(trained[1e-2], (std::vector<std::int64_t>{100, 200, 400}));
  EXPECT_EQ(trained[1e-3], (std::vector<std::int64_t>{100, 200}));
  EXPECT_EQ(trained[1e-1], (std::vector<std::int64_t>{100}));
  EXPECT_EQ(trained[1e-4], (std::vector<std::int64_t>{100}));
  std::vector<double> order;
  for (const CandidateResult& result : tuning.results) order.push_back(result.candidate.learning_rate);
  EXPECT_EQ(order, (std::vector{1e-2, 1e-3, 1e-1, 1e-4}));
  EXPECT_NE(best_command(tuning).find("retrace train pair-matching --model rmc "), std::string::npos);
  EXPECT_NE(best_command(tuning).find(" --learning-rate 0.01 --schedule trapezoid --steps 400"), std::string::npos);
}

TEST(Tune, NobodyIsDroppedFromAPlateauBeforeItCouldEnd) {
  TuneOptions options = small_search();
  options.plateau_steps = 400;
  options.train = spread_over(nullptr, [](const RunOptions& run, const std::string&) {
    const bool leaves =
        *run.fit.learning_rate == 1e-4 && *run.fit.steps == 400;  // the worst by its loss on the plateau
    return leaves ? ended_with(0.99, 0.1) : ended_with(1.0 / 3, 1 - *run.fit.learning_rate);
  });
  const Tuning tuning = tune(options);
  EXPECT_EQ(tuning.results.front().candidate.learning_rate, 1e-4);
  for (const CandidateResult& result : tuning.results) EXPECT_EQ(result.trials.size(), 3U);
  options.plateau_steps = 100;
  EXPECT_NE(tune(options).results.front().candidate.learning_rate, 1e-4) << "dropped by its loss";
}

TEST(Tune, OnAPlateauIsWhatIsNoBetterThanAWrongAnswerWithinItsError) {
  const Baselines labels{.chance = 0.1, .trivial = 0.2, .ceiling = 1, .shortcuts = {{"half of it", 0.5}}};
  EXPECT_TRUE(is_on_plateau(labels, true, 0.1, 1024));
  EXPECT_TRUE(is_on_plateau(labels, true, 0.54, 1024));
  EXPECT_FALSE(is_on_plateau(labels, true, 0.56, 1024));
  EXPECT_TRUE(is_on_plateau(labels, true, 0.56, 100));
  const Baselines numbers{.chance = 2, .trivial = 1, .ceiling = 0};
  EXPECT_TRUE(is_on_plateau(numbers, false, 0.96, 1024));
  EXPECT_FALSE(is_on_plateau(numbers, false, 0.9, 1024));
}

TEST(Tune, ATrainingThatDivergesComesLastAndIsDropped) {
  TuneOptions options = small_search();
  options.train = spread_over(nullptr, [](const RunOptions& run, const std::string&) -> FitResult {
    if (*run.fit.learning_rate == 1e-1) throw DivergenceError("fit: the loss is nan");
    return ended_with(0.9, 1);
  });
  const Tuning tuning = tune(options);
  EXPECT_EQ(tuning.results.back().candidate.learning_rate, 1e-1);
  EXPECT_EQ(tuning.results.back().trials.size(), 1U);
  EXPECT_NE(to_text(tuning).find("diverged"), std::string::npos);
  const auto json = Json::parse(to_json(tuning));
  EXPECT_EQ(json.at("candidates").back().at("trials")[0].at("failure"), "fit: the loss is nan");
}

TEST(Tune, WhatIsGivenIsNotSearched) {
  TuneOptions options = small_search();
  options.run.fit.learning_rate = 0.5;
  options.run.fit.schedule = "cosine";
  options.run.model.sizes.slot_size = 24;
  options.scales = {1, 2};
  options.train = spread_over(nullptr, [](const RunOptions& run, const std::string&) {
    EXPECT_EQ(run.fit.learning_rate, 0.5);
    EXPECT_EQ(run.fit.schedule, "cosine");
    EXPECT_EQ(run.model.sizes.slot_size, 24);
    return ended_with(0.9, 1);
  });
  EXPECT_EQ(tune(options).results.size(), 2U);
}

TEST(Tune, ScalesAreOfTheRecipesSizes) {
  TuneOptions options = small_search();
  options.run.model.name = "lstm";
  options.scales = {0.5, 1, 2};
  std::set<std::int64_t> sizes;
  options.train = spread_over(nullptr, [&](const RunOptions& run, const std::string&) {
    sizes.insert(*run.model.sizes.hidden);
    return ended_with(0.9, 1);
  });
  tune(options);
  EXPECT_EQ(sizes, (std::set<std::int64_t>{64, 128, 256}));
}

TEST(Tune, EveryTrainingHasANameOfItsOwn) {
  TuneOptions options = small_search();
  options.schedules = {"trapezoid", "cosine"};
  options.scales = {1, 2};
  std::vector<std::string> names;
  options.train = spread_over(nullptr, [&](const RunOptions&, const std::string& name) {
    names.push_back(name);
    return ended_with(0.9, 1);
  });
  tune(options);
  EXPECT_EQ(std::set(names.begin(), names.end()).size(), names.size());
}

TEST(Tune, TrainsForRealAndAsRetraceTrainWould) {
  TuneOptions options{.run = {.task = "parity", .model = {.name = "rnn", .sizes = {.hidden = 8}}}};
  options.learning_rates = {1e-2, 1e-9};
  options.schedules = {"constant"};
  options.scales = {1};
  options.rounds = 2;
  options.run.fit = {.steps = 40, .batch = 8, .validate_every = 20, .validation_samples = 32, .test_samples = 32};
  const Tuning tuning = tune(options);
  RunOptions alone = options.run;
  alone.fit.learning_rate = tuning.results.front().candidate.learning_rate;
  alone.fit.schedule = "constant";
  EXPECT_EQ(train_anew(alone, "").validation.loss, tuning.results.front().trials.back().validation.loss);
}

TEST(Tune, RefusesASearchWithoutAChoice) {
  TuneOptions options = small_search();
  options.rounds = 0;
  EXPECT_THROW(tune(options), ValueError);
  options = small_search();
  options.learning_rates = {};
  EXPECT_THROW(tune(options), ValueError);
  options = small_search();
  options.scales = {0};
  EXPECT_THROW(tune(options), ValueError);
  options = small_search();
  options.schedules = {"cosinus"};
  EXPECT_THROW(tune(options), ValueError);
  options = small_search();
  options.run.fit.steps = {};
  options.run.fit.minutes = 1;
  EXPECT_THROW(tune(options), ValueError);
}

}  // namespace
}  // namespace retrace

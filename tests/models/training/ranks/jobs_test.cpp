// Jobs that ranks share.
#include <gtest/gtest.h>
#include <retrace/models/training/fit_bytes.h>
#include <retrace/models/training/ranks/jobs.h>
#include <retrace/models/training/several_runs.h>
#include <retrace/tests/errors.h>
#include <retrace/tests/models/training/ranks/thread_ranks.h>

#include <atomic>
#include <chrono>
#include <limits>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace retrace {
namespace {

using namespace std::chrono_literals;

std::string word(std::int64_t number) { return std::string(static_cast<std::size_t>(number % 4), 'a') + "!"; }

TEST(Jobs, EachIsDoneOnceAndEveryRankHasAllResultsInOrder) {
  for (const int size : {1, 2, 3, 8})
    for (const std::int64_t count : {0, 1, 7}) {
      std::vector<std::atomic<int>> done(7);
      on_ranks(size, [&](ThreadRank& rank) {
        const auto job = [&](std::int64_t number) {
          ++done[static_cast<std::size_t>(number)];
          return word(number);
        };
        const auto results = results_of_jobs(count, job, &rank);
        ASSERT_TRUE(results);
        ASSERT_EQ(std::ssize(*results), count);
        for (std::int64_t k = 0; k < count; ++k) EXPECT_EQ((*results)[static_cast<std::size_t>(k)], word(k));
      });
      for (std::int64_t k = 0; k < 7; ++k) EXPECT_EQ(done[static_cast<std::size_t>(k)], k < count ? 1 : 0);
    }
}

TEST(Jobs, EmptyResultsTravelToo) {
  on_ranks(3, [](ThreadRank& rank) {
    const auto job = [](std::int64_t) { return std::string(); };
    EXPECT_EQ(results_of_jobs(5, job, &rank), std::vector<std::string>(5));
  });
}

TEST(Jobs, ARankThatIsFreeTakesTheNext) {
  std::atomic<int> others = 0;
  on_ranks(2, [&](ThreadRank& rank) {
    const auto job = [&](std::int64_t number) {
      if (number == 0)  // until all others are done, which another rank has to do
        for (int wait = 0; wait < 2000 && others < 5; ++wait) std::this_thread::sleep_for(1ms);
      else
        ++others;
      return std::to_string(others);
    };
    EXPECT_EQ(results_of_jobs(6, job, &rank)->front(), "5");
  });
}

TEST(Jobs, NoneIsBegunAfterOneWasStopped) {
  for (const int size : {1, 3}) {
    std::atomic<int> done = 0;
    on_ranks(size, [&](ThreadRank& rank) {
      const auto job = [&](std::int64_t number) -> std::optional<std::string> {
        ++done;
        if (number == 2) return std::nullopt;
        std::this_thread::sleep_for(20ms);
        return word(number);
      };
      EXPECT_EQ(results_of_jobs(100, job, &rank), std::nullopt);
    });
    EXPECT_LT(done, 20);
  }
}

TEST(Jobs, WhatOneThrowsGoesToTheCallerOnItsRank) {
  const auto fails = [](std::int64_t) -> std::optional<std::string> { throw std::runtime_error("no disk"); };
  EXPECT_THROW(results_of_jobs(3, fails, nullptr), std::runtime_error);
  Post post;
  ThreadRank first(post, 0, 2);  // the other one never asks for a job
  EXPECT_THROW(results_of_jobs(3, fails, &first), std::runtime_error);
}

TEST(Jobs, NumbersKeepTheirBits) {
  on_ranks(2, [](ThreadRank& rank) {
    const auto job = [](std::int64_t number) { return 0.1 * static_cast<double>(number); };
    EXPECT_EQ(numbers_of_jobs(3, job, &rank), (std::vector{0.0, 0.1, 0.2}));
  });
}

TEST(FitBytes, EveryNumberComesBack) {
  FitResult result;
  result.steps = 7, result.best_step = 6, result.seconds = 0.1, result.stopped_by = StopReason::patience;
  result.validation = {std::numeric_limits<double>::infinity(), 0.25};
  result.test = {1.0 / 3, 0.5};
  result.losses = {3, 2, 1.0 / 7};
  result.reference_loss = 4;
  result.history.resize(2);
  result.history[1] = {.step = 5,
                       .loss = 0.3,
                       .last_step = {.loss = 0.2, .gradient_norm = 9, .learning_rate = 1e-3},
                       .metric_name = "accuracy",
                       .validation = {1, 2},
                       .samples_per_second = 3,
                       .seconds = 4,
                       .memory_bytes = 5,
                       .lesson = 6};
  result.history[1].last_step.gradient_norms = {{"core.blocks.0", 8}, {"out", 1}};
  const std::string bytes = to_bytes(result);
  const FitResult read = fit_result_from_bytes(bytes);
  EXPECT_EQ(to_bytes(read), bytes);
  EXPECT_EQ(read.test.loss, 1.0 / 3);
  EXPECT_EQ(read.losses, result.losses);
  EXPECT_EQ(read.stopped_by, StopReason::patience);
  EXPECT_EQ(to_json(read.history[1]), to_json(result.history[1]));
}

std::vector<NamedRun> some_runs(std::int64_t count) {
  std::vector<NamedRun> runs;
  for (std::int64_t k = 0; k < count; ++k) {
    NamedRun run{.name = text("run-", k), .options = {.task = "parity", .model = {.name = "lstm"}}};
    run.options.model.sizes.hidden = 4;
    run.options.fit = {.seed = static_cast<std::uint64_t>(k), .steps = 2, .batch = 4, .test_samples = 20};
    runs.push_back(run);
  }
  return runs;
}

TEST(SeveralRuns, EqualThoseOfOneProcessOnAnyNumberOfRanks) {
  const std::vector<NamedRun> runs = some_runs(5);
  const std::vector<RunResult> alone = spread_over(nullptr)(runs);
  on_ranks(3, [&](ThreadRank& rank) {
    const std::vector<RunResult> shared = spread_over(&rank)(runs);
    ASSERT_EQ(shared.size(), 5U);
    for (std::size_t k = 0; k < shared.size(); ++k) {
      EXPECT_EQ(shared[k].fit.losses, alone[k].fit.losses);
      EXPECT_EQ(shared[k].fit.test.loss, alone[k].fit.test.loss);
    }
  });
  EXPECT_NE(alone[0].fit.losses, alone[1].fit.losses);
}

TEST(SeveralRuns, ADivergenceIsAResultUnlessTheRunMayNotDiverge) {
  std::vector<NamedRun> runs = some_runs(2);
  const auto diverges = [](const RunOptions&, const std::string& name) -> FitResult {
    if (name == "run-1") throw DivergenceError("fit: the loss of step 3 is inf");
    return {};
  };
  on_ranks(2, [&](ThreadRank& rank) {
    const std::vector<RunResult> results = spread_over(&rank, diverges)(runs);
    EXPECT_EQ(results[0].divergence, "");
    EXPECT_EQ(results[1].divergence, "fit: the loss of step 3 is inf");
  });
  runs[1].may_diverge = false;
  EXPECT_THROW(spread_over(nullptr, diverges)(runs), DivergenceError);
}

TEST(SeveralRuns, AreRefusedOnRanksThatHaveOthers) {
  on_ranks(2, [&](ThreadRank& rank) {
    expect_words<ValueError>([&] { spread_over (&rank)(some_runs(2 + rank.rank())); }, {"and rank 1 has run run-2"});
  });
}

}  // namespace
}  // namespace retrace

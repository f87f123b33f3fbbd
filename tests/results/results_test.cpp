// Trains models by their recipes, which takes an hour: `ctest --test-dir build/release -L results`.
#include <gtest/gtest.h>
#include <retrace/core/base/parallel.h>
#include <retrace/models/networks/sequence_model.h>
#include <retrace/models/training/run.h>
#include <retrace/tests/results/expected.h>

#include <algorithm>
#include <cstdio>
#include <ostream>
#include <string>

namespace retrace {

void PrintTo(const ExpectedResult& expected, std::ostream* out) { *out << expected.task << " by " << expected.model; }

namespace {

class Results : public testing::TestWithParam<ExpectedResult> {};

TEST_P(Results, ARecipeReachesWhatItReached) {
  const ExpectedResult& expected = GetParam();
  if (std::ranges::find(model_names(), expected.model) == model_names().end()) GTEST_SKIP() << "a model of the zoo";
  set_threads(1);
  RunOptions options{.task = std::string(expected.task), .model = {.name = std::string(expected.model)}};
  options.fit.seed = 7;
  auto run = prepare(options);
  run.train();
  std::printf("%s by %s: %.5g after %.0f s (%.5g when the recipe was last changed)\n", options.task.c_str(),
              options.model.name.c_str(), run.fit.test.metric, run.fit.seconds, expected.measured);
  if (run.task->kind() == TaskKind::regression)
    EXPECT_LE(run.fit.test.metric, expected.limit);
  else
    EXPECT_GE(run.fit.test.metric, expected.limit);
}

std::string name_of_case(const testing::TestParamInfo<ExpectedResult>& info) {
  std::string name = std::string(info.param.task) + "_by_" + std::string(info.param.model);
  std::ranges::replace(name, '-', '_');
  return name;
}
INSTANTIATE_TEST_SUITE_P(Recipes, Results, testing::ValuesIn(expected_results), name_of_case);

}  // namespace
}  // namespace retrace

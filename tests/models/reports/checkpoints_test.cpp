// The trained models that come with the project.
#include <gtest/gtest.h>
#include <retrace/models/reports/evaluation/evaluation_report.h>

namespace retrace {
namespace {

void expect_the_papers_task_is_answered(const std::string& name, double at_least) {
  SCOPED_TRACE(name);
  const StoredRun run = load_run(text(RETRACE_SOURCE_DIR "/models/checkpoints/", name, ".safetensors"));
  EXPECT_EQ(run.task_options, (TaskOptions{.vectors = 8, .dims = 16}));
  const Report report = make_report(run, {.samples = 1000, .seed = 2026, .failures = 0, .examples = 0});
  EXPECT_GT(report.evaluation.metric, at_least);
}

TEST(Checkpoints, ThePapersTaskIsAnsweredAsAfterTheTraining) {
  expect_the_papers_task_is_answered("nth-farthest-paper", 0.94);
  expect_the_papers_task_is_answered("nth-farthest-attention", 0.975);
}

}  // namespace
}  // namespace retrace

// The trained models that come with the project.
#include <gtest/gtest.h>
#include <retrace/models/reports/evaluation/evaluation_report.h>

namespace retrace {
namespace {

TEST(Checkpoints, ThePapersTaskIsAnsweredAsAfterTheTraining) {
  const StoredRun run = load_run(RETRACE_SOURCE_DIR "/models/checkpoints/nth-farthest-paper.safetensors");
  EXPECT_EQ(run.task_options, (TaskOptions{.vectors = 8, .dims = 16}));
  const Report report = make_report(run, {.samples = 1000, .seed = 2026, .failures = 0, .examples = 0});
  EXPECT_GT(report.evaluation.metric, 0.91);
}

}  // namespace
}  // namespace retrace

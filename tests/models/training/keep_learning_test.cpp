#include <gtest/gtest.h>
#include <retrace/core/tape/tape.h>
#include <retrace/models/training/checkpoint.h>
#include <retrace/models/training/text/keep_learning.h>
#include <retrace/nn/optim/clip.h>
#include <retrace/nn/optim/optimizers.h>
#include <retrace/ops/ops.h>
#include <retrace/tests/errors.h>
#include <retrace/tests/models/training/random_text.h>
#include <retrace/tests/models/training/text_runs.h>

#include <numeric>
#include <string>
#include <vector>

namespace retrace {
namespace {

double mean_of(const std::vector<double>& losses) {
  return std::accumulate(losses.begin(), losses.end(), 0.0) / static_cast<double>(losses.size());
}

/// Each segment is scored before the model learns from it: the first as by the frozen model, the second as by a model
/// that has made one step.
TEST(KeepLearning, ScoresASegmentBeforeItIsLearned) {
  const DtypeScope doubles(f64);
  const TextData data = characters_of(random_text(40));
  const TokenIds ids = TokenIds(data.ids).first(25);
  for (const std::string_view name : model_names()) {
    const StoredRun run = untrained(data, name);
    const KeepLearningOptions options{.learning_rate = 1e-2, .clip = 0.1};
    const std::vector<double> losses = losses_while_learning(run, ids, options);
    ASSERT_EQ(losses.size(), 24U);
    const StoredRun twin = untrained(data, name);
    Adam adam(*twin.model, {.lr = 1e-2, .b1 = 0});
    SequenceState state;
    for (std::int64_t number = 0; number < 3; ++number) {
      const Batch segment = Streams(ids, 1, 8).segment(number);
      Tape tape;
      const Continued result = twin.model->continued(segment.x, state);
      if (twin.model->carries_state()) state = result.state.detach();
      const Tensor loss = cross_entropy(result.answers, segment.y);
      const auto begin = losses.begin() + static_cast<std::ptrdiff_t>(8 * number);
      EXPECT_NEAR(mean_of({begin, begin + 8}), loss.item(), 1e-9) << name << ", segment " << number;
      tape.backward(loss);
      clip_norm(*twin.model, 0.1);
      adam.step();
    }
  }
}

TEST(KeepLearning, HelpsWhereTheTextRepeatsAndLeavesTheModelAlone) {
  std::string lines;
  for (int k = 0; k < 60; ++k) lines += "never odd or even; ";
  const TextData data = characters_of(lines);
  for (const std::string_view name : model_names()) {
    const StoredRun run = untrained(data, name);
    const std::string before = weights_hash(*run.model);
    EXPECT_LT(mean_of(losses_while_learning(run, data.ids, {.learning_rate = 5e-3})),
              evaluate(*run.model, *run.task, data.ids, 1).loss - 0.5)
        << name;
    EXPECT_EQ(weights_hash(*run.model), before) << name;
  }
}

TEST(KeepLearning, Errors) {
  const TextData data = characters_of(random_text(40));
  const StoredRun run = untrained(data, "gru");
  for (const double rate : {0.0, -1.0})
    EXPECT_THROW(losses_while_learning(run, data.ids, {.learning_rate = rate}), ValueError) << rate;
  EXPECT_THROW(losses_while_learning(run, data.ids, {.clip = 0}), ValueError);
  EXPECT_THROW(losses_while_learning(run, TokenIds(data.ids).first(1)), ValueError);
}

}  // namespace
}  // namespace retrace

#include <gtest/gtest.h>
#include <retrace/models/tasks/babi.h>
#include <retrace/tests/models/tasks/rows.h>

#include <algorithm>
#include <array>
#include <map>

namespace retrace {
namespace {

/// A story, read from its rows.
struct Story {
  std::map<std::int64_t, std::int64_t> place_of;  // of each agent
  std::int64_t holder = -1;
  std::int64_t last_place = -1;  // -1: none so far

  explicit Story(const float* rows, int facts = 5) {
    for (const float* row = rows; row < rows + facts * 12; row += 12) {
      const std::int64_t agent = hot(row, 4);
      const std::int64_t place = hot(row + 5, 4);
      if (row[9] == 1) last_place = place_of[agent] = place;
      if (row[10] == 1) holder = agent;
    }
  }
  bool held() const { return holder >= 0; }
  std::int64_t best_guess() const {
    if (held()) return place_of.at(holder);
    std::array<int, 4> votes{};
    for (const auto& [agent, place] : place_of) ++votes[static_cast<std::size_t>(place)];
    return std::max_element(votes.begin(), votes.end()) - votes.begin();
  }
};

TEST(Babi, RatesAreTheKnownOnes) {
  Random random(7);
  const Batch batch = Babi().sample(random, many);
  ASSERT_EQ(batch.x.shape(), (Shape{many, 6, 12}));
  const float* rows = batch.x.values<float>().data();
  const auto answers = batch.y.values<std::int64_t>();
  double held = 0, best = 0, last = 0, zero = 0;
  for (std::size_t sample = 0; sample < answers.size(); ++sample, rows += 6 * 12) {
    const Story story(rows);
    const std::int64_t answer = answers[sample];
    if (story.held()) {
      ASSERT_EQ(answer, story.best_guess());
    }
    ASSERT_EQ(hot(rows + 5 * 12, 4), -1);
    ASSERT_TRUE(rows[5 * 12 + 4] == 1 && rows[5 * 12 + 11] == 1);
    held += story.held() ? 1 : 0;
    best += answer == story.best_guess() ? 1 : 0;
    last += answer == story.last_place ? 1 : 0;
    zero += answer == 0 ? 1 : 0;
  }
  EXPECT_NEAR(held / many, 0.479, 0.01);
  EXPECT_NEAR(best / many, 0.855, 0.007);
  EXPECT_NEAR(last / many, 0.639, 0.01);
  EXPECT_NEAR(zero / many, 0.273, 0.01);
}

TEST(Babi, HeldOnlyLeavesNothingToGuess) {
  Random random(8);
  const Babi task({.held_only = true});
  const Batch batch = task.sample(random, many);
  const float* rows = batch.x.values<float>().data();
  const auto answers = batch.y.values<std::int64_t>();
  double last = 0;
  for (std::size_t sample = 0; sample < answers.size(); ++sample, rows += 6 * 12) {
    const Story story(rows);
    ASSERT_TRUE(story.held());
    ASSERT_EQ(answers[sample], story.best_guess());
    last += answers[sample] == story.last_place ? 1 : 0;
  }
  EXPECT_NEAR(task.baselines().trivial, last / many, 0.01);
  EXPECT_EQ(task.baselines().ceiling, 1);
}

TEST(Babi, BaselinesOfLongerStoriesAreMeasured) {
  Random random(9);
  for (const bool held_only : {false, true}) {
    const Babi task({.held_only = held_only, .facts = 9});
    const Batch batch = task.sample(random, many);
    ASSERT_EQ(batch.x.shape(), (Shape{many, 10, 12}));
    const float* rows = batch.x.values<float>().data();
    double best = 0, last = 0;
    for (const std::int64_t answer : batch.y.values<std::int64_t>()) {
      const Story story(rows, 9);
      if (story.held()) {
        ASSERT_EQ(answer, story.best_guess());
      }
      ASSERT_TRUE(rows[9 * 12 + 4] == 1 && rows[9 * 12 + 11] == 1);
      best += answer == story.best_guess() ? 1.0 / many : 0;
      last += answer == story.last_place ? 1.0 / many : 0;
      rows += 10 * 12;
    }
    EXPECT_NEAR(task.baselines().ceiling.value(), best, 0.015);
    EXPECT_NEAR(task.baselines().trivial, last, 0.025);
  }
  EXPECT_EQ(message_of([] { Babi({.facts = 1}); }), "babi: a story of at most 1 facts has no variety; take 2 or more");
}

}  // namespace
}  // namespace retrace

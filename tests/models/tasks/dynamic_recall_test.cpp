#include <gtest/gtest.h>
#include <retrace/models/tasks/symbols/sequence_task.h>
#include <retrace/tests/models/tasks/rows.h>

#include <map>
#include <vector>

namespace retrace {
namespace {

TEST(DynamicRecall, TheLastValueOfTheKeyCounts) {
  Random random(5);
  const SequenceTask task(sequence_rules("dynamic-recall"));
  const Batch batch = task.sample(random, many);
  ASSERT_EQ(batch.x.shape(), (Shape{many, 17, 15}));
  const float* row = batch.x.values<float>().data();
  const auto answers = batch.y.values<std::int64_t>();
  std::map<std::int64_t, double> blank_at, asked_rank;
  double newest_right = 0, first_right = 0;
  for (const std::int64_t answer : answers) {
    std::map<std::int64_t, std::int64_t> last, first;
    std::int64_t pairs = 0, newest = -1;
    for (std::int64_t t = 0; t < 16; ++t, row += 15) {
      const std::int64_t key = hot(row, 5), value = hot(row + 5, 10);
      ASSERT_EQ(key < 0, value < 0);
      ASSERT_GE(key, -1);
      if (key < 0) {
        blank_at[t] += 1.0 / many;
        continue;
      }
      ++pairs;
      first.emplace(key, value);
      last[key] = newest = value;
    }
    ASSERT_EQ(pairs, 10);
    const std::int64_t asked = hot(row, 5);
    ASSERT_TRUE(is_blank(row + 5, 10));
    row += 15;
    ASSERT_TRUE(last.contains(asked));
    ASSERT_EQ(answer, last[asked]);
    newest_right += answer == newest ? 1.0 / many : 0;
    first_right += answer == first[asked] ? 1.0 / many : 0;
    if (last.size() == 5) asked_rank[asked] += 1;
  }
  ASSERT_EQ(blank_at.size(), 16U);
  for (const auto& [t, share] : blank_at) EXPECT_NEAR(share, 6.0 / 16, 0.012) << t;
  double asked = 0;
  for (const auto& [key, count] : asked_rank) asked += count;
  for (const auto& [key, count] : asked_rank) EXPECT_NEAR(count / asked, 0.2, 0.015) << key;
  const Baselines baselines = task.baselines();
  EXPECT_NEAR(baselines.trivial, newest_right, 0.015);
  ASSERT_EQ(baselines.shortcuts.size(), 1U);
  EXPECT_NEAR(baselines.shortcuts[0].value, first_right, 0.015);
}

TEST(DynamicRecall, KnowsTheRowToRemember) {
  Random random(2);
  const SequenceTask task(sequence_rules("dynamic-recall"), {.length = 4, .keys = 2, .values = 3, .distractors = 2});
  const Batch batch = task.sample(random, 200);
  for (std::int64_t sample = 0; sample < 200; ++sample) {
    const Example example(batch, sample);
    const std::int64_t row = task.row_to_remember(example).value_or(-1);
    ASSERT_GE(row, 0);
    EXPECT_EQ(task.describe_row(example, row), text("key ", task.topic(example, 6), " has value ", example.label()));
    EXPECT_EQ(task.describe_row(example, 6), text("key ", task.topic(example, 6), "?"));
    const auto categories = task.categories(example, 0);
    EXPECT_GE(categories[0].value, 1);
    EXPECT_EQ(categories[1].value, 6 - row);
  }
}

TEST(DynamicRecall, SizesAreOptionsAndChecked) {
  const auto task = make_task("dynamic-recall", {.length = 3, .keys = 4, .values = 6, .distractors = 0});
  EXPECT_EQ(task->sequence_length(), 4);
  EXPECT_EQ(task->input_size(), 10);
  EXPECT_EQ(message_of([] { make_task("dynamic-recall", {.keys = 1}); }),
            "dynamic-recall: 10 pairs of 1 keys and 10 values with 6 empty rows are not a task; take 1 or more pairs, "
            "2 or more keys and values");
}

}  // namespace
}  // namespace retrace

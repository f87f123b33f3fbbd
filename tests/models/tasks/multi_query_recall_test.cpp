#include <gtest/gtest.h>
#include <retrace/models/tasks/symbols/sequence_task.h>
#include <retrace/tests/models/tasks/rows.h>

#include <cmath>
#include <map>
#include <set>
#include <vector>

namespace retrace {
namespace {

TEST(MultiQueryRecall, EveryKeyIsAskedForOnceAndHasItsValue) {
  Random random(5);
  constexpr std::int64_t samples = 3000, width = 64;
  const Batch batch = make_task("multi-query-recall")->sample(random, samples);
  ASSERT_EQ(batch.x.shape(), (Shape{samples, 64, width}));
  ASSERT_EQ(batch.y.shape(), (Shape{samples, 48}));
  const float* row = batch.x.values<float>().data();
  const std::int64_t* answer = batch.y.values<std::int64_t>().data();
  std::vector<double> asked_at(24), key_shown(32), value_shown(32);
  for (std::int64_t sample = 0; sample < samples; ++sample) {
    std::map<std::int64_t, std::int64_t> value_of;
    for (int pair = 0; pair < 8; ++pair, row += 2 * width) {
      const std::int64_t key = hot(row, width), value = hot(row + width, width) - 32;
      ASSERT_TRUE(key >= 0 && key < 32 && value >= 0 && value < 32);
      ASSERT_TRUE(value_of.emplace(key, value).second) << "a key was shown twice";
      key_shown[static_cast<std::size_t>(key)] += 1.0 / samples;
      value_shown[static_cast<std::size_t>(value)] += 1.0 / samples;
    }
    std::set<std::int64_t> asked;
    for (std::int64_t t = 0; t < 48; ++t, row += width, ++answer) {
      const std::int64_t key = hot(row, width);
      ASSERT_GE(key, -1);
      if (key < 0) {
        ASSERT_EQ(*answer, no_answer);
        continue;
      }
      ASSERT_EQ(t % 2, 0);
      ASSERT_TRUE(value_of.contains(key) && asked.insert(key).second);
      ASSERT_EQ(*answer, value_of[key]);
      asked_at[static_cast<std::size_t>(t / 2)] += 1.0 / samples;
    }
    ASSERT_EQ(asked.size(), 8U);
  }
  for (const double share : key_shown) EXPECT_NEAR(share, 0.25, 0.035);
  for (const double share : value_shown) EXPECT_NEAR(share, 0.25, 0.035);
  EXPECT_GT(asked_at[0], 0.9) << "most questions come soon";
  for (std::size_t place = 3; place < asked_at.size(); ++place)
    EXPECT_LT(asked_at[place], asked_at[place - 3]) << place;
  EXPECT_GT(asked_at[23], 0.02);
}

TEST(MultiQueryRecall, ASingleQuestionFallsByThePowerLaw) {
  Random random(6);
  const SequenceTask task(sequence_rules("multi-query-recall"), {.length = 10, .keys = 2, .values = 2, .pairs = 1});
  const Batch batch = task.sample(random, many);
  const std::int64_t* answer = batch.y.values<std::int64_t>().data();
  std::vector<double> share(4);
  for (std::int64_t sample = 0; sample < many; ++sample, answer += 8)
    for (std::size_t place = 0; place < 4; ++place) share[place] += answer[2 * place] != no_answer ? 1.0 / many : 0;
  const double sum = 1 + std::pow(2, -0.99) + std::pow(3, -0.99) + std::pow(4, -0.99);
  for (std::size_t place = 0; place < 4; ++place)
    EXPECT_NEAR(share[place], std::pow(static_cast<double>(place + 1), -0.99) / sum, 0.01) << place;
}

TEST(MultiQueryRecall, AnyValueShownIsRightAsOftenAsItsBaselineSays) {
  Random random(7);
  const SequenceTask task(sequence_rules("multi-query-recall"), {.length = 16, .keys = 5, .values = 4, .pairs = 3});
  const Batch batch = task.sample(random, many);
  const float* rows = batch.x.values<float>().data();
  const std::int64_t* answer = batch.y.values<std::int64_t>().data();
  double right = 0, asked = 0;
  for (std::int64_t sample = 0; sample < many; ++sample, rows += 16 * 9, answer += 10)
    for (int t = 0; t < 10; ++t) {
      if (answer[t] == no_answer) continue;
      ++asked;
      right += hot(rows + (2 * random.integer(3) + 1) * 9 + 5, 4) == answer[t] ? 1 : 0;
    }
  EXPECT_NEAR(task.baselines().trivial, right / asked, 0.007);
}

TEST(MultiQueryRecall, IsDescribed) {
  Random random(1);
  const SequenceTask task(sequence_rules("multi-query-recall"), {.length = 8, .keys = 3, .values = 3, .pairs = 2});
  const Batch batch = task.sample(random, 1);
  const Example example(batch, 0);
  EXPECT_EQ(task.describe_row(example, 0), text("key ", task.topic(example, 0)));
  EXPECT_EQ(task.describe_row(example, 1).substr(0, 6), "value ");
  for (std::int64_t answer = 0; answer < 4; answer += 2) {
    ASSERT_NE(example.label(answer), no_answer) << "two questions fill both places";
    EXPECT_EQ(task.describe_row(example, 4 + answer), text("key ", task.topic(example, 4 + answer), "?"));
    const auto categories = task.categories(example, answer);
    const std::int64_t shown = 2 * categories[0].value - 2;
    EXPECT_EQ(task.topic(example, shown), task.topic(example, 4 + answer));
    EXPECT_EQ(categories[1].value, 4 + answer - shown);
  }
}

TEST(MultiQueryRecall, SizesThatDoNotFitAreRefused) {
  EXPECT_EQ(make_task("multi-query-recall", {.length = 20, .pairs = 5})->answer_length(), 10);
  EXPECT_EQ(message_of([] { make_task("multi-query-recall", {.length = 19, .pairs = 5}); }),
            "multi-query-recall: 19 rows do not hold 5 pairs of 32 keys and 32 values with their questions; take 1 or "
            "more pairs, no fewer keys, 2 or more values, and 4 or more rows per pair");
  EXPECT_NE(message_of([] { make_task("multi-query-recall", {.keys = 7}); }), "");
}

}  // namespace
}  // namespace retrace

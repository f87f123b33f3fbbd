#include <gtest/gtest.h>
#include <retrace/tests/models/tasks/rows.h>

#include <array>
#include <map>
#include <set>

namespace retrace {
namespace {

TEST(Recall, TheAnswerIsTheValueThatWasShownWithTheKey) {
  Random random(5);
  const Batch batch = make_task("recall")->sample(random, many);
  ASSERT_EQ(batch.x.shape(), (Shape{many, 7, 20}));
  const float* row = batch.x.values<float>().data();
  std::array<double, 6> asked{};
  double first_value = 0;
  for (const std::int64_t answer : batch.y.values<std::int64_t>()) {
    std::map<std::int64_t, std::int64_t> value_of;
    std::map<std::int64_t, std::size_t> place_of;
    std::set<std::int64_t> values;
    for (std::size_t pair = 0; pair < 6; ++pair, row += 20) {
      const std::int64_t key = hot(row, 10), value = hot(row + 10, 10);
      ASSERT_TRUE(key >= 0 && value >= 0);
      ASSERT_TRUE(value_of.emplace(key, value).second && values.insert(value).second);
      place_of[key] = pair;
      if (pair == 0) first_value += value == answer ? 1 : 0;
    }
    ASSERT_TRUE(is_blank(row + 10, 10));
    const std::int64_t key = hot(row, 10);
    row += 20;
    ASSERT_TRUE(value_of.contains(key));
    ASSERT_EQ(answer, value_of[key]);
    ++asked[place_of[key]];
  }
  for (const double count : asked) EXPECT_NEAR(count / many, 1.0 / 6, 0.01);
  EXPECT_NEAR(make_task("recall")->baselines().trivial, first_value / many, 0.01);
}

TEST(Recall, PairsThatCannotDifferAreRefused) {
  EXPECT_EQ(message_of([] { make_task("recall", {.length = 0}); }),
            "recall: 0 pairs of different ones of 10 keys and 10 values cannot be drawn; take 1 or more pairs, and no "
            "fewer keys and values");
  EXPECT_THROW(make_task("recall", {.length = 4, .keys = 3}), ValueError);
  EXPECT_THROW(make_task("recall", {.length = 4, .values = 3}), ValueError);
  Random random(1);
  EXPECT_EQ(make_task("recall", {.length = 4, .keys = 4, .values = 4})->sample(random, 3).y.shape(), (Shape{3}));
}

}  // namespace
}  // namespace retrace

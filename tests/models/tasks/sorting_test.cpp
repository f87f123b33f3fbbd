#include <gtest/gtest.h>
#include <retrace/models/tasks/symbols/sequence_task.h>
#include <retrace/tests/models/tasks/rows.h>

#include <algorithm>
#include <map>
#include <vector>

namespace retrace {
namespace {

TEST(Sorting, AnswersAreTheNumbersInOrder) {
  Random random(5);
  constexpr std::int64_t samples = 4000;
  const SequenceTask task(sequence_rules("sorting"));
  const Batch batch = task.sample(random, samples);
  ASSERT_EQ(batch.x.shape(), (Shape{samples, 17, 21}));
  ASSERT_EQ(batch.y.shape(), (Shape{samples, 8}));
  const float* row = batch.x.values<float>().data();
  const std::int64_t* answer = batch.y.values<std::int64_t>().data();
  std::vector<std::map<std::int64_t, double>> at_place(8);
  std::vector<double> shown_first(20);
  for (std::int64_t sample = 0; sample < samples; ++sample, answer += 8) {
    std::vector<std::int64_t> numbers;
    for (int k = 0; k < 8; ++k, row += 21) numbers.push_back(hot(row, 21));
    EXPECT_EQ(hot(row, 21), 20);
    row += 21;
    for (int k = 0; k < 8; ++k, row += 21) ASSERT_TRUE(is_blank(row, 21));
    shown_first[static_cast<std::size_t>(numbers[0])] += 1.0 / samples;
    std::vector<std::int64_t> left = numbers;
    for (int k = 0; k < 8; ++k) {  // the least of those that are left
      const auto least = std::min_element(left.begin(), left.end());
      ASSERT_EQ(answer[k], *least);
      left.erase(least);
      ASSERT_EQ(std::count(numbers.begin(), numbers.end(), answer[k]), 1);
      at_place[static_cast<std::size_t>(k)][answer[k]] += 1.0 / samples;
    }
  }
  for (const double share : shown_first) EXPECT_NEAR(share, 0.05, 0.015);
  double trivial = 0;
  for (const auto& place : at_place)
    trivial +=
        std::max_element(place.begin(), place.end(), [](auto& a, auto& b) { return a.second < b.second; })->second / 8;
  EXPECT_NEAR(task.baselines().trivial, trivial, 0.01);
}

TEST(Sorting, IsDescribed) {
  Random random(1);
  const SequenceTask task(sequence_rules("sorting"), {.length = 3, .values = 4});
  const Batch batch = task.sample(random, 1);
  const Example example(batch, 0);
  EXPECT_EQ(task.describe(example), "sorting " + task.describe_row(example, 0) + " " + task.describe_row(example, 1) +
                                        " " + task.describe_row(example, 2));
  EXPECT_EQ(task.describe_row(example, 3), "end");
  EXPECT_EQ(task.describe_row(example, 4), "");
  EXPECT_EQ(task.categories(example, 0)[1].value, example.label(0) + 1);
  EXPECT_EQ(task.categories(example, 2)[1].value, example.label(2) - example.label(1));
}

TEST(Sorting, TooFewValuesAreRefused) {
  EXPECT_EQ(message_of([] { make_task("sorting", {.length = 21}); }),
            "sorting: 21 different numbers out of 20 cannot be sorted; take 2 or more numbers, and no fewer values");
  EXPECT_NE(message_of([] { make_task("sorting", {.length = 1}); }), "");
  EXPECT_EQ(make_task("sorting", {.length = 21, .values = 21})->sequence_length(), 43);
}

}  // namespace
}  // namespace retrace

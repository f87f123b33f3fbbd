#include <gtest/gtest.h>
#include <retrace/tests/models/tasks/rows.h>

#include <algorithm>
#include <array>
#include <set>
#include <vector>

namespace retrace {
namespace {

TEST(PairMatching, ElementsDifferAndTheAnswerStoodBesideTheQuestion) {
  Random random(5);
  const Batch batch = make_task("pair-matching")->sample(random, many);
  ASSERT_EQ(batch.x.shape(), (Shape{many, 10, 21}));
  const float* rows = batch.x.values<float>().data();
  const auto answers = batch.y.values<std::int64_t>();
  std::array<std::int64_t, 4> asked{};
  for (std::size_t sample = 0; sample < answers.size(); ++sample, rows += 10 * 21) {
    std::vector<std::int64_t> shown;
    for (int row = 0; row < 4; ++row) shown.push_back(hot(rows + row * 21, 20));
    ASSERT_EQ(std::set(shown.begin(), shown.end()).size(), 4U);
    ASSERT_EQ(rows[4 * 21 + 20], 1);
    const auto position = std::find(shown.begin(), shown.end(), hot(rows + 4 * 21, 20)) - shown.begin();
    ASSERT_LT(position, 4);
    ++asked[static_cast<std::size_t>(position)];
    ASSERT_EQ(answers[sample], shown[static_cast<std::size_t>(position ^ 1)]);
    for (int k = 5 * 21; k < 10 * 21; ++k) ASSERT_EQ(rows[k], 0);
  }
  for (const std::int64_t count : asked) EXPECT_NEAR(static_cast<double>(count) / many, 0.25, 0.01);
  EXPECT_NEAR(make_task("pair-matching")->baselines().trivial, 1.0 / 3, 1e-12);
}

TEST(PairMatching, GuessingAnyOtherElementShownIsRightInAThird) {
  Random random(6);
  const Batch batch = make_task("pair-matching")->sample(random, many);
  const float* rows = batch.x.values<float>().data();
  const auto answers = batch.y.values<std::int64_t>();
  double right = 0;
  for (std::size_t sample = 0; sample < answers.size(); ++sample, rows += 10 * 21) {
    const std::int64_t question = hot(rows + 4 * 21, 20);
    std::int64_t guess = question;
    while (guess == question) guess = hot(rows + random.integer(4) * 21, 20);
    right += guess == answers[sample] ? 1 : 0;
  }
  EXPECT_NEAR(right / many, 1.0 / 3, 0.01);
}

TEST(PairMatching, SizesWithoutATaskAreRefused) {
  EXPECT_EQ(message_of([] { make_task("pair-matching", {.length = 2}); }),
            "pair-matching: 2 rows hold no pair and its question; ask for 4 or more");
  EXPECT_EQ(message_of([] { make_task("pair-matching", {.length = 10, .vocabulary = 3}); }),
            "pair-matching: 4 different elements do not come from a vocabulary of 3; enlarge the vocabulary or shorten "
            "the sequence");
}

}  // namespace
}  // namespace retrace

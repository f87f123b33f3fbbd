#include <gtest/gtest.h>
#include <retrace/models/tasks/adding.h>
#include <retrace/tests/models/tasks/rows.h>

#include <cmath>
#include <vector>

namespace retrace {
namespace {

TEST(Adding, TheAnswerIsTheSumOfOneNumberOfEachHalf) {
  Random random(5);
  const std::int64_t samples = 20000, length = 11;
  const Adding task({.length = length});
  const Batch batch = task.sample(random, samples);
  ASSERT_EQ(batch.x.shape(), (Shape{samples, length, 2}));
  const float* row = batch.x.values<float>().data();
  std::vector<double> marked(static_cast<std::size_t>(length));
  double of_one = 0, of_another = 0;
  float before = 1;
  for (const float answer : batch.y.values<float>()) {
    std::vector<std::int64_t> marks;
    float sum = 0;
    for (std::int64_t k = 0; k < length; ++k, row += 2) {
      ASSERT_TRUE(row[0] >= 0 && row[0] <= 1 && (row[1] == 0 || row[1] == 1));
      if (row[1] == 0) continue;
      marks.push_back(k);
      sum += row[0];
      marked[static_cast<std::size_t>(k)] += 1.0 / static_cast<double>(samples);
    }
    ASSERT_EQ(marks.size(), 2U);
    ASSERT_TRUE(marks[0] < 5 && marks[1] >= 5);
    ASSERT_EQ(answer, sum);
    of_one += std::pow(static_cast<double>(answer) - 1, 2);
    of_another += std::pow(static_cast<double>(answer - before), 2);
    before = answer;
  }
  for (std::size_t k = 0; k < marked.size(); ++k) EXPECT_NEAR(marked[k], k < 5 ? 1.0 / 5 : 1.0 / 6, 0.015) << k;
  EXPECT_NEAR(task.baselines().trivial, of_one / static_cast<double>(samples), 0.005);
  EXPECT_NEAR(task.baselines().chance, of_another / static_cast<double>(samples), 0.01);
  EXPECT_NEAR(task.baselines().trivial, 1.0 / 6, 1e-12);
}

TEST(Adding, ThereIsRoomForTwoMarks) {
  EXPECT_EQ(Adding().sequence_length(), 100);
  EXPECT_EQ(message_of([] { Adding({.length = 1}); }),
            "adding: 1 rows do not hold two marked numbers; ask for 2 or more");
  Random random(1);
  const Batch batch = Adding({.length = 2}).sample(random, 1);
  const float* rows = batch.x.values<float>().data();
  EXPECT_EQ(batch.y.values<float>()[0], rows[0] + rows[2]);
}

}  // namespace
}  // namespace retrace

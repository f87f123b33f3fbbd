#include <gtest/gtest.h>
#include <retrace/tests/models/tasks/rows.h>

namespace retrace {
namespace {

TEST(Parity, AnswersCountTheOnesSoFar) {
  Random random(5);
  const std::int64_t samples = 1000;
  const Batch batch = make_task("parity")->sample(random, samples);
  ASSERT_EQ(batch.x.shape(), (Shape{samples, 40, 1}));
  ASSERT_EQ(batch.y.shape(), (Shape{samples, 40}));
  const float* bit = batch.x.values<float>().data();
  const std::int64_t* answer = batch.y.values<std::int64_t>().data();
  double ones = 0, odd = 0;
  for (std::int64_t sample = 0; sample < samples; ++sample) {
    int count = 0;
    for (int row = 0; row < 40; ++row, ++bit, ++answer) {
      ASSERT_TRUE(*bit == 1 || *bit == -1);
      count += *bit == 1 ? 1 : 0;
      ones += *bit == 1 ? 1 : 0;
      ASSERT_EQ(*answer, count % 2);
      odd += count % 2;
    }
  }
  EXPECT_NEAR(ones / (40 * samples), 0.5, 0.01);
  EXPECT_NEAR(odd / (40 * samples), 0.5, 0.01);
}

TEST(Parity, NoBitsAreRefused) {
  EXPECT_EQ(message_of([] { make_task("parity", {.length = 0}); }),
            "parity: a word of 0 bits has none; ask for 1 or more");
}

}  // namespace
}  // namespace retrace

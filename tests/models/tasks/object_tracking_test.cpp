#include <gtest/gtest.h>
#include <retrace/models/tasks/object_tracking.h>
#include <retrace/tests/models/tasks/rows.h>

#include <array>
#include <cmath>
#include <map>

namespace retrace {
namespace {

/// Mean squared error of `guess(sample rows)` -> {x, y} on the tracking task.
template <class Guess> double tracking_error(Guess&& guess) {
  const ObjectTracking task;
  Random random(11);
  const Batch batch = task.sample(random, many);
  const float* rows = batch.x.values<float>().data();
  const float* answers = batch.y.values<float>().data();
  double total = 0;
  for (std::int64_t sample = 0; sample < many; ++sample, rows += 11 * 5, answers += 2) {
    const std::array<double, 2> guessed = guess(rows);
    total += std::pow(guessed[0] - static_cast<double>(answers[0]), 2) +
             std::pow(guessed[1] - static_cast<double>(answers[1]), 2);
  }
  return total / (2 * static_cast<double>(many));
}

/// The last row of an object, or of any (object = -1); null if it was never shown.
const float* last_shown(const float* rows, std::int64_t object) {
  for (const float* row = rows + 9 * 5; row >= rows; row -= 5)
    if (object < 0 || row[object] == 1) return row;
  return nullptr;
}

TEST(ObjectTracking, ErrorsOfSimpleAnswersAreTheKnownOnes) {
  EXPECT_NEAR(tracking_error([](const float*) { return std::array{0.4, 0.4}; }), 0.080, 0.001);
  EXPECT_NEAR(tracking_error([](const float*) { return std::array{0.0, 0.0}; }), 0.240, 0.002);
  EXPECT_NEAR(tracking_error([](const float* rows) {
                const float* row = last_shown(rows, -1);
                return std::array<double, 2>{static_cast<double>(row[3]), static_cast<double>(row[4])};
              }),
              0.107, 0.002);
}

TEST(ObjectTracking, TheRowsTellTheAnswerUnlessTheObjectWasNeverShown) {
  const double best = tracking_error([](const float* rows) {
    const float* row = last_shown(rows, hot(rows + 10 * 5, 3));
    if (row == nullptr) return std::array{0.4, 0.4};
    return std::array<double, 2>{static_cast<double>(row[3]), static_cast<double>(row[4])};
  });
  EXPECT_NEAR(best, 0.0014, 0.0002);
  EXPECT_NEAR(ObjectTracking().baselines().ceiling.value(), 0.00139, 1e-5);
  EXPECT_NEAR(ObjectTracking().baselines().trivial, 0.08, 1e-12);
}

TEST(ObjectTracking, StepsAreOfOneCellAndStayInside) {
  Random random(3);
  const Batch batch = ObjectTracking().sample(random, 500);
  const float* row = batch.x.values<float>().data();
  for (int sample = 0; sample < 500; ++sample) {
    std::map<std::int64_t, std::array<double, 2>> position;
    for (int step = 0; step < 10; ++step, row += 5) {
      const std::int64_t object = hot(row, 3);
      ASSERT_GE(object, 0);
      const std::array<double, 2> now{std::round(static_cast<double>(row[3]) * 5),
                                      std::round(static_cast<double>(row[4]) * 5)};
      for (const double coordinate : now) ASSERT_TRUE(coordinate >= 0 && coordinate <= 4);
      if (position.contains(object)) {
        const double distance = std::abs(now[0] - position[object][0]) + std::abs(now[1] - position[object][1]);
        ASSERT_LE(distance, 1);
      }
      position[object] = now;
    }
    ASSERT_EQ(row[3] + row[4], 0);
    row += 5;
  }
}

TEST(ObjectTracking, SizesWithoutATaskAreRefused) {
  EXPECT_EQ(message_of([] { ObjectTracking({.moves = 0}); }),
            "object-tracking: 0 moves of 3 objects on a grid of 5 are not a task; every size is 1 or more");
}

}  // namespace
}  // namespace retrace

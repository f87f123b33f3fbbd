#include <gtest/gtest.h>
#include <retrace/models/tasks/babi.h>
#include <retrace/models/tasks/object_tracking.h>
#include <retrace/models/tasks/pair_matching.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <vector>

namespace retrace {
namespace {

constexpr std::int64_t many = 40000;

/// The position of the only 1 among `count` elements; -1 if all are 0.
std::int64_t hot(const float* first, std::int64_t count) {
  const float* found = std::find(first, first + count, 1.0F);
  return found == first + count ? -1 : found - first;
}

/// Mean squared error of `guess(sample rows)` -> {x, y} on the tracking task.
template <class Guess>
double tracking_error(Guess&& guess) {
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
  EXPECT_NEAR(ObjectTracking().yardsticks().ceiling, 0.00139, 1e-5);
  EXPECT_NEAR(ObjectTracking().yardsticks().trivial, 0.08, 1e-12);
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
      const std::array<double, 2> now{std::round(static_cast<double>(row[3]) * 5), std::round(static_cast<double>(row[4]) * 5)};
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

TEST(PairMatching, ElementsDifferAndTheAnswerStoodBesideTheQuestion) {
  Random random(5);
  const Batch batch = PairMatching().sample(random, many);
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
  EXPECT_NEAR(PairMatching().yardsticks().trivial, 1.0 / 3, 1e-12);
}

TEST(PairMatching, GuessingAnyOtherElementShownIsRightInAThird) {
  Random random(6);
  const Batch batch = PairMatching().sample(random, many);
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

/// A story as its rows tell it.
struct Story {
  std::map<std::int64_t, std::int64_t> place_of;  // of each agent
  std::int64_t holder = -1;
  std::int64_t last_place = -1;  // none was named

  explicit Story(const float* rows) {
    for (const float* row = rows; row < rows + 5 * 12; row += 12) {
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

TEST(Task, SamplesDependOnTheGeneratorAlone) {
  for (const std::string_view name : task_names()) {
    const auto task = make_task(name);
    Random first(1), again(1), other(2);
    const Batch a = task->sample(first, 20), b = task->sample(again, 20), c = task->sample(other, 20);
    EXPECT_EQ(a.x.dim(1), task->sequence_length());
    EXPECT_EQ(a.x.dim(2), task->input_size());
    EXPECT_TRUE(std::ranges::equal(a.x.values<float>(), b.x.values<float>())) << name;
    EXPECT_FALSE(std::ranges::equal(a.x.values<float>(), c.x.values<float>())) << name;
  }
}

TEST(Task, SamplesHaveTheDefaultDtypeAndTheSameValuesInIt) {
  for (const std::string_view name : task_names()) {
    Random random(1), again(1);
    const Batch narrow = make_task(name)->sample(random, 5);
    const DtypeScope scope(f64);
    const Batch wide = make_task(name)->sample(again, 5);
    ASSERT_EQ(wide.x.dtype(), f64);
    for (std::size_t k = 0; k < wide.x.values<double>().size(); ++k)
      EXPECT_EQ(narrow.x.values<float>()[k], static_cast<float>(wide.x.values<double>()[k]));
  }
}

TEST(Task, ErrorsNameTheRemedy) {
  const auto message = [](auto&& call) -> std::string {
    try {
      call();
    } catch (const ValueError& error) {
      return error.what();
    }
    return "nothing was thrown";
  };
  Random random;
  EXPECT_EQ(message([] { make_task("pair-matchin"); }),
            "make_task: there is no task named 'pair-matchin'; did you mean pair-matching (known: object-tracking, "
            "pair-matching, babi)");
  EXPECT_EQ(message([] { PairMatching({.length = 2}); }),
            "pair-matching: 2 rows hold no pair and its question; ask for 4 or more");
  EXPECT_EQ(message([] { PairMatching({.length = 10, .vocabulary = 3}); }),
            "pair-matching: 4 different elements do not come from a vocabulary of 3; enlarge the vocabulary or shorten "
            "the sequence");
  EXPECT_EQ(message([] { ObjectTracking({.moves = 0}); }),
            "object-tracking: 0 moves of 3 objects on a grid of 5 are not a task; every size is 1 or more");
  EXPECT_EQ(message([&] { Babi().sample(random, 0); }),
            "babi: a batch of 0 samples was asked for; ask for 1 or more");
}

}  // namespace
}  // namespace retrace

#include <gtest/gtest.h>
#include <retrace/models/tasks/nth_farthest.h>
#include <retrace/tests/models/tasks/rows.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace retrace {
namespace {

struct Vector {
  std::int64_t label;
  std::vector<double> x;
};

struct Question {
  std::vector<Vector> vectors;
  std::int64_t rank;    // 1: the farthest
  std::int64_t center;  // a label

  Question(const float* rows, std::int64_t count, std::int64_t dims) {
    rank = 1 + hot(rows + dims + count, count);
    center = hot(rows + dims + 2 * count, count);
    for (std::int64_t k = 0; k < count; ++k, rows += dims + 3 * count) {
      vectors.push_back({hot(rows + dims, count), std::vector<double>(rows, rows + dims)});
      EXPECT_EQ(1 + hot(rows + dims + count, count), rank);  // the same in every row
      EXPECT_EQ(hot(rows + dims + 2 * count, count), center);
    }
  }

  /// The label at the rank after sorting by distance, or by another measure.
  template <class Measure> std::int64_t ranked(Measure&& measure) const {
    std::vector<std::pair<double, std::int64_t>> sorted;
    for (const Vector& v : vectors) sorted.emplace_back(-measure(v), v.label);
    std::ranges::sort(sorted);
    return sorted[static_cast<std::size_t>(rank - 1)].second;
  }
  std::int64_t answer() const {
    const auto m = std::ranges::find(vectors, center, &Vector::label);
    return ranked([&](const Vector& v) {
      double sum = 0;
      for (std::size_t k = 0; k < v.x.size(); ++k) sum += (v.x[k] - m->x[k]) * (v.x[k] - m->x[k]);
      return sum;
    });
  }
  std::int64_t guess_by_length() const {
    return ranked([&](const Vector& v) {
      double sum = 0;
      for (const double x : v.x) sum += x * x;
      return v.label == center ? -1 : sum;
    });
  }
};

TEST(NthFarthest, AnswersAreThoseOfSorting) {
  Random random(5);
  const NthFarthest task({.vectors = 5, .dims = 3});
  const Batch batch = task.sample(random, many);
  ASSERT_EQ(batch.x.shape(), (Shape{many, 5, 3 + 15}));
  const float* rows = batch.x.values<float>().data();
  double by_length = 0, itself = 0;
  std::map<std::int64_t, double> ranks, centers, answers, first_labels;
  for (const std::int64_t answer : batch.y.values<std::int64_t>()) {
    const Question question(rows, 5, 3);
    rows += 5 * 18;
    std::set<std::int64_t> labels;
    for (const Vector& v : question.vectors) {
      labels.insert(v.label);
      for (const double x : v.x) ASSERT_TRUE(x >= -1 && x < 1);
    }
    ASSERT_EQ(labels, (std::set<std::int64_t>{0, 1, 2, 3, 4}));
    ASSERT_EQ(answer, question.answer());
    by_length += answer == question.guess_by_length() ? 1 : 0;
    itself += answer == question.center ? 1 : 0;
    ++ranks[question.rank], ++centers[question.center], ++answers[answer], ++first_labels[question.vectors[0].label];
  }
  for (const auto& counts : {ranks, centers, answers, first_labels})
    for (const auto& [value, count] : counts) EXPECT_NEAR(count / many, 0.2, 0.01);
  EXPECT_NEAR(itself / many, 0.2, 0.01);  // only the last rank is m itself
  EXPECT_NEAR(task.baselines().trivial, by_length / many, 0.015);
}

TEST(NthFarthest, ShortcutsReachTheKnownAccuracies) {
  const auto expect_shortcuts = [](std::int64_t vectors, std::int64_t dims, double any_other, double by_length) {
    const Baselines baselines = NthFarthest({.vectors = vectors, .dims = dims}).baselines();
    EXPECT_NEAR(baselines.shortcuts.at(0).value, any_other, 0.001) << vectors << " of " << dims;
    EXPECT_NEAR(baselines.trivial, by_length, 0.012) << vectors << " of " << dims;
  };
  expect_shortcuts(8, 16, 0.250, 0.309);
  expect_shortcuts(8, 4, 0.250, 0.308);
  expect_shortcuts(6, 4, 0.333, 0.409);
  expect_shortcuts(5, 4, 0.400, 0.484);
  expect_shortcuts(4, 16, 0.500, 0.589);
  expect_shortcuts(4, 2, 0.500, 0.607);
  expect_shortcuts(3, 2, 0.667, 0.766);
}

TEST(NthFarthest, LessonsAskForSomeRanksInSomeDims) {
  Random random(6);
  const NthFarthest task({.vectors = 4, .dims = 5, .ranks = {1, 4}, .active_dims = 2});
  const std::int64_t samples = 2000;
  const Batch batch = task.sample(random, samples);
  ASSERT_EQ(batch.x.shape(), (Shape{samples, 4, 5 + 12}));
  const float* rows = batch.x.values<float>().data();
  double first = 0;
  for (const std::int64_t answer : batch.y.values<std::int64_t>()) {
    const Question question(rows, 4, 5);
    rows += 4 * 17;
    ASSERT_TRUE(question.rank == 1 || question.rank == 4);
    first += question.rank == 1 ? 1 : 0;
    for (const Vector& v : question.vectors) ASSERT_TRUE(v.x[1] != 0 && v.x[2] == 0 && v.x[3] == 0 && v.x[4] == 0);
    ASSERT_EQ(answer, question.answer());
  }
  EXPECT_NEAR(first / static_cast<double>(samples), 0.5, 0.04);
  EXPECT_NEAR(task.baselines().shortcuts.at(0).value, 0.5 + 0.5 / 3, 1e-12);
}

TEST(NthFarthest, OptionsWithoutAQuestionAreRefused) {
  EXPECT_EQ(message_of([] { NthFarthest({.vectors = 1}); }),
            "nth-farthest: 1 vectors of 16 dims are not a task; take 2 or more of 1 or more");
  EXPECT_THROW(NthFarthest({.dims = 0}), ValueError);
  EXPECT_EQ(message_of([] {
              NthFarthest({.ranks = {1, 9}});
            }),
            "nth-farthest: rank 9 of 8 vectors; ranks go from 1 (farthest) to the number of vectors (m itself)");
  EXPECT_EQ(message_of([] { NthFarthest({.active_dims = 17}); }),
            "nth-farthest: 17 active dims of 16; take 1 to all of them, or 0 for all");
}

TEST(NthFarthest, LessonsWidenTheDimsAndThenTheRanks) {
  const auto lesson = [](const NthFarthest& task, std::size_t which) {
    Random random(5);
    const Batch batch = task.lessons().at(which).task->sample(random, 200);
    std::int64_t max_dims = 0, max_ranks = 0;
    const std::int64_t width = task.input_size(), k = task.output_size(), dims = width - 3 * k;
    for (auto row = batch.x.values<float>().begin(); row != batch.x.values<float>().end(); row += width) {
      for (std::int64_t d = 0; d < dims; ++d)
        if (row[d] != 0) max_dims = std::max(max_dims, d + 1);
      for (std::int64_t n = 0; n < k; ++n)
        if (row[dims + k + n] != 0) max_ranks = std::max(max_ranks, n + 1);
    }
    return std::pair(max_dims, max_ranks);
  };
  const NthFarthest paper({.vectors = 8, .dims = 16});
  const std::vector<std::pair<std::int64_t, std::int64_t>> expected{{1, 1},  {2, 1},  {4, 1}, {8, 1},
                                                                    {16, 1}, {16, 2}, {16, 3}};
  ASSERT_EQ(paper.lessons().size(), expected.size());
  for (std::size_t which = 0; which < expected.size(); ++which)
    EXPECT_EQ(lesson(paper, which), expected[which]) << which;
  const NthFarthest small({.vectors = 5, .dims = 4});
  EXPECT_EQ(small.lessons().size(), 5U) << "1 and 2 dims, 1, 2 and 3 ranks";
  EXPECT_EQ(NthFarthest({.vectors = 2, .dims = 1}).lessons().size(), 1U);
}

/// The farthest from m by |v|^2 - 2 v m, or by |v|^2 alone for the vectors shown before m. Without `lengths`, by -2 v
/// m.
std::int64_t farthest(const Question& question, bool before_m, bool lengths) {
  const auto m = std::ranges::find(question.vectors, question.center, &Vector::label);
  bool m_was_shown = before_m;
  return question.ranked([&](const Vector& v) {
    if (v.label == question.center) {
      m_was_shown = true;
      return -std::numeric_limits<double>::infinity();
    }
    double length = 0, product = 0;
    for (std::size_t k = 0; k < v.x.size(); ++k) length += v.x[k] * v.x[k], product += v.x[k] * m->x[k];
    return (lengths ? length : 0) - (m_was_shown ? 2 * product : 0);
  });
}

TEST(NthFarthest, LessonsAreNotPassedWithoutTheVectorsBeforeM) {
  const NthFarthest paper({.vectors = 8, .dims = 16});
  const std::vector<Lesson> lessons = paper.lessons();
  for (const std::size_t which : {1, 2, 3, 4}) {  // the farthest, in 2, 4, 8 and 16 dims
    Random random(7);
    const std::int64_t samples = 4000;
    const Batch batch = lessons[which].task->sample(random, samples);
    const float* rows = batch.x.values<float>().data();
    double vectors_after_m = 0, products_of_all = 0;
    for (const std::int64_t answer : batch.y.values<std::int64_t>()) {
      const Question question(rows, 8, 16);
      rows += 8 * paper.input_size();
      vectors_after_m += answer == farthest(question, false, true) ? 1 : 0;
      products_of_all += answer == farthest(question, true, false) ? 1 : 0;
    }
    EXPECT_LT(vectors_after_m / samples, lessons[which].pass_at - 0.02) << which;
    EXPECT_GT(products_of_all / samples, lessons[which].pass_at) << which;
  }
}

}  // namespace
}  // namespace retrace

// The descriptions of samples agree with the samples.
#include <gtest/gtest.h>
#include <retrace/core/base/error.h>
#include <retrace/models/tasks/task.h>
#include <retrace/ops/ops.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <string>

namespace retrace {
namespace {

struct Drawn {
  std::unique_ptr<Task> task;
  Batch batch;
  explicit Drawn(std::string_view name, const TaskOptions& options = {}, std::int64_t count = 300)
      : task(make_task(name, options)) {
    Random random(3);
    batch = task->sample(random, count);
  }
  std::int64_t count() const { return batch.x.dim(0); }
  Example example(std::int64_t sample) const { return {batch, sample}; }
  std::map<std::string, std::int64_t> categories(std::int64_t sample, std::int64_t answer = 0) const {
    std::map<std::string, std::int64_t> result;
    for (const Category& category : task->categories(example(sample), answer))
      result.emplace(category.name, category.value);
    return result;
  }
};

/// A batch of one sequence with label 0: `hot` names the elements of each row that are 1.
Batch sequence(std::int64_t width, const std::vector<std::vector<std::int64_t>>& hot_elements) {
  Batch batch{zeros({1, std::ssize(hot_elements), width}), indices({0})};
  float* row = batch.x.mutable_values<float>().data();
  for (const auto& elements : hot_elements) {
    for (const std::int64_t element : elements) row[element] = 1;
    row += width;
  }
  return batch;
}

TEST(Describe, EveryTaskOfTheLibraryKnowsCategoriesAndWords) {
  for (const std::string_view name : task_names()) {
    const Drawn drawn(name, {}, 40);
    std::set<std::vector<std::int64_t>> kinds;
    for (std::int64_t sample = 0; sample < drawn.count(); ++sample) {
      const Example example = drawn.example(sample);
      EXPECT_FALSE(drawn.task->describe(example).empty()) << name;
      for (std::int64_t answer = 0; answer < example.answers(); ++answer) {
        if (drawn.task->kind() == TaskKind::classification && example.label(answer) == no_answer) continue;
        std::vector<std::int64_t> kind;
        for (const Category& category : drawn.task->categories(example, answer)) kind.push_back(category.value);
        EXPECT_FALSE(kind.empty()) << name;
        kinds.insert(kind);
      }
      if (const auto row = drawn.task->row_to_remember(example)) {
        EXPECT_GE(*row, 0) << name;
        EXPECT_LT(*row, drawn.task->sequence_length()) << name;
      }
    }
    EXPECT_GT(kinds.size(), 1U) << name << ": all samples are of one kind";
  }
}

TEST(Describe, AStoryIsTold) {
  const auto babi = make_task("babi");
  // Agents 0-3, the ball 4, places 5-8, moved 9, took 10, question 11.
  const Batch batch = sequence(12, {{1, 6, 9}, {1, 10}, {2, 5, 9}, {1, 8, 9}, {}, {4, 11}});
  const Example example(batch, 0);
  EXPECT_EQ(babi->describe(example),
            "1: John moved to the garden\n2: John took the ball\n3: Daniel moved to the kitchen\n"
            "4: John moved to the hallway\n6: where is the ball?");
  EXPECT_EQ(babi->row_to_remember(example), 1);
  const auto categories = babi->categories(example, 0);
  ASSERT_EQ(categories.size(), 3U);
  EXPECT_EQ(categories[0].value, 4) << "facts";
  EXPECT_EQ(categories[1].value, 1) << "somebody took it";
  EXPECT_EQ(categories[2].value, 1) << "the holder moved once since, Daniel does not count";
  EXPECT_EQ(babi->describe_label(1), "garden");
}

TEST(Describe, APathHasALength) {
  const auto task = make_task("graph-reachability");
  // from 0-5, to 6-11, question 12: 0 -> 1 -> 2 -> 3 and a way back; from 0 to 3?
  const Batch batch = sequence(13, {{0, 7}, {1, 8}, {2, 9}, {3, 6}, {4, 11}, {5, 10}, {1, 6}, {2, 6}, {0, 9, 12}});
  const auto categories = task->categories(Example(batch, 0), 0);
  ASSERT_EQ(categories.size(), 1U);
  EXPECT_EQ(categories[0].value, 3);
  const Drawn drawn("graph-reachability");
  for (std::int64_t sample = 0; sample < drawn.count(); ++sample)
    EXPECT_EQ(drawn.categories(sample).begin()->second > 0, drawn.example(sample).label() == 1);
}

TEST(Describe, TheRankOfNthFarthestGivesItsAnswer) {
  const Drawn drawn("nth-farthest", {.vectors = 4, .dims = 2});
  for (std::int64_t sample = 0; sample < drawn.count(); ++sample) {
    const Example example = drawn.example(sample);
    const auto kinds = drawn.categories(sample);
    const std::int64_t m = *drawn.task->row_to_remember(example);
    EXPECT_EQ(kinds.at("position of m"), m + 1);
    std::multimap<double, std::int64_t, std::greater<>> by_distance;
    for (std::int64_t t = 0; t < 4; ++t) {
      const auto a = example.row(t), b = example.row(m);
      by_distance.emplace((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]), drawn.task->topic(example, t));
    }
    EXPECT_EQ(std::next(by_distance.begin(), kinds.at("n") - 1)->second, example.label());
    EXPECT_NE(drawn.task->describe(example).find(text("vector ", drawn.task->topic(example, m), " (m)")),
              std::string::npos);
  }
}

TEST(Describe, TheRowToRememberHoldsTheAnswer) {
  const Drawn pairs("pair-matching"), recall("recall"), tracking("object-tracking");
  for (std::int64_t sample = 0; sample < 300; ++sample) {
    const Example pair = pairs.example(sample), recalled = recall.example(sample), tracked = tracking.example(sample);
    const std::int64_t row = *pairs.task->row_to_remember(pair);
    EXPECT_EQ(hot(pair.row(row)), pair.label());
    EXPECT_EQ(pairs.categories(sample).at("pair"), row / 2 + 1);
    EXPECT_EQ(pairs.categories(sample).at("asked for"), row % 2 == 0 ? 0 : 1);
    EXPECT_EQ(hot(columns(recalled.row(*recall.task->row_to_remember(recalled)), 10, 10)), recalled.label());
    if (const auto last = tracking.task->row_to_remember(tracked)) {
      EXPECT_EQ(tracked.row(*last)[3], tracked.numbers()[0]);
      EXPECT_EQ(tracked.row(*last)[4], tracked.numbers()[1]);
      EXPECT_EQ(tracking.categories(sample).at("rows since its last move"), 10 - *last);
    } else {
      EXPECT_EQ(tracking.categories(sample).at("moves of the object"), 0);
    }
  }
}

TEST(Describe, WordsAndProgramsAreWrittenAsTheyAre) {
  const Drawn reverse("reverse", {.length = 4}), parity("parity", {.length = 5}), adding("adding", {.length = 8});
  for (std::int64_t sample = 0; sample < 50; ++sample) {
    const std::string word = reverse.task->describe(reverse.example(sample));
    std::string answer;
    for (std::int64_t k = 3; k >= 0; --k) answer += reverse.task->describe_label(reverse.example(sample).label(k));
    EXPECT_EQ(word, "reverse " + answer);
    EXPECT_EQ(reverse.categories(sample, 2).at("position in the answer"), 3);
    const std::string bits = parity.task->describe(parity.example(sample));
    EXPECT_EQ(std::count(bits.begin(), bits.end(), '1') % 2, parity.example(sample).label(4));
    double first = 0, second = 0;
    char open, plus;
    std::string row, number;
    std::istringstream words(adding.task->describe(adding.example(sample)));
    words >> first >> open >> row >> number >> plus >> second;
    EXPECT_NEAR(first + second, adding.example(sample).numbers()[0], 2e-3)
        << adding.task->describe(adding.example(sample));
  }
}

TEST(Describe, AProgramHasItsNesting) {
  const Drawn drawn("execute", {.length = 2, .program = "addition", .nesting = 2});
  for (std::int64_t sample = 0; sample < 50; ++sample) {
    const std::string code = drawn.task->describe(drawn.example(sample));
    EXPECT_EQ(drawn.categories(sample).at("nesting"), std::count(code.begin(), code.end(), '+'));
    EXPECT_EQ(drawn.categories(sample, 1).at("position in the output"), 2);
  }
  const Drawn easy("execute", {.length = 2, .program = "full", .nesting = 2}, 1);
  Random random(3);
  const Batch batch = easy.task->of_every_difficulty()->sample(random, 200);
  std::set<std::int64_t> nestings;
  for (std::int64_t sample = 0; sample < 200; ++sample)
    for (const Category& category : easy.task->categories(Example(batch, sample), 0))
      if (category.name == "nesting") nestings.insert(category.value);
  EXPECT_EQ(nestings, (std::set<std::int64_t>{1, 2}));
  EXPECT_EQ(drawn.task->describe_label(9), "9");
  EXPECT_EQ(drawn.task->describe_label(no_answer), "");
}

}  // namespace
}  // namespace retrace

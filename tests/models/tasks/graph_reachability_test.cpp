#include <gtest/gtest.h>
#include <retrace/models/tasks/graph_reachability.h>
#include <retrace/tests/models/tasks/rows.h>

#include <deque>
#include <map>
#include <set>
#include <utility>

namespace retrace {
namespace {

using Edge = std::pair<std::int64_t, std::int64_t>;

struct ReadGraph {
  std::set<Edge> edges;
  Edge asked;

  /// Reads a sample of 9 rows over 6 nodes.
  explicit ReadGraph(const float* rows) {
    for (int row = 0; row < 8; ++row, rows += 13) {
      EXPECT_EQ(rows[12], 0);
      edges.emplace(hot(rows, 6), hot(rows + 6, 6));
    }
    EXPECT_EQ(rows[12], 1);
    asked = {hot(rows, 6), hot(rows + 6, 6)};
  }

  /// The distance by breadth-first search; 0 if there is no path.
  int distance() const {
    std::map<std::int64_t, int> distance_of{{asked.first, 0}};
    for (std::deque<std::int64_t> next{asked.first}; !next.empty(); next.pop_front())
      for (const auto& [from, to] : edges)
        if (from == next.front() && distance_of.emplace(to, distance_of[from] + 1).second) next.push_back(to);
    return distance_of[asked.second];
  }
};

TEST(GraphReachability, AnswersAreThoseOfASearch) {
  Random random(5);
  const GraphReachability task;
  const Batch batch = task.sample(random, many);
  ASSERT_EQ(batch.x.shape(), (Shape{many, 9, 13}));
  const float* rows = batch.x.values<float>().data();
  double yes = 0, by_one = 0, by_two = 0;
  std::map<std::int64_t, double> asked_from;
  for (const std::int64_t answer : batch.y.values<std::int64_t>()) {
    const ReadGraph story(rows);
    rows += 9 * 13;
    ASSERT_EQ(story.edges.size(), 8U);  // all different
    const auto [a, b] = story.asked;
    bool leaves = false, enters = false;
    for (const auto& [from, to] : story.edges) {
      ASSERT_TRUE(from >= 0 && to >= 0 && from != to);
      leaves = leaves || from == a;
      enters = enters || to == b;
    }
    ASSERT_TRUE(a >= 0 && b >= 0 && a != b && leaves && enters);
    const int distance = story.distance();
    ASSERT_EQ(answer, distance > 0 ? 1 : 0);
    yes += static_cast<double>(answer);
    by_one += (distance == 1) == (answer == 1) ? 1 : 0;
    by_two += (distance == 1 || distance == 2) == (answer == 1) ? 1 : 0;
    asked_from[a] += 1.0 / many;
  }
  EXPECT_NEAR(yes / many, 0.5, 0.01);
  for (const auto& [node, share] : asked_from) EXPECT_NEAR(share, 1.0 / 6, 0.01) << node;
  const Baselines baselines = task.baselines();
  EXPECT_NEAR(baselines.trivial, by_one / many, 0.015);
  EXPECT_NEAR(baselines.shortcuts.at(0).value, by_two / many, 0.015);
  EXPECT_NEAR(baselines.trivial, 0.745, 0.015);
  EXPECT_NEAR(baselines.shortcuts.at(0).value, 0.912, 0.015);
}

TEST(GraphReachability, TheLargestAndTheFullestGraphsAreFound) {
  Random random(1);
  EXPECT_EQ(GraphReachability({.nodes = 4, .edges = 8}).sample(random, 100).x.shape(), (Shape{100, 9, 9}));
  EXPECT_EQ(GraphReachability({.nodes = 4, .edges = 2}).sample(random, 100).x.shape(), (Shape{100, 3, 9}));
  EXPECT_EQ(GraphReachability({.nodes = 64, .edges = 128}).sample(random, 100).x.shape(), (Shape{100, 129, 129}));
}

TEST(GraphReachability, SizesWithoutQuestionsAreRefused) {
  const char* remedy = " nodes make no questions; take 4 to 64 nodes and 2 to 2 * nodes edges";
  EXPECT_EQ(message_of([] { GraphReachability({.nodes = 3}); }), text("graph-reachability: 8 edges between 3", remedy));
  EXPECT_EQ(message_of([] { GraphReachability({.nodes = 65}); }),
            text("graph-reachability: 8 edges between 65", remedy));
  EXPECT_EQ(message_of([] { GraphReachability({.edges = 1}); }), text("graph-reachability: 1 edges between 6", remedy));
  EXPECT_EQ(message_of([] { GraphReachability({.edges = 13}); }),
            text("graph-reachability: 13 edges between 6", remedy));
}

}  // namespace
}  // namespace retrace

// Does a path lead from one node to another? A graph is given edge by edge.
#pragma once

#include <retrace/models/tasks/task.h>

namespace retrace {

/// The size of the graphs.
struct GraphReachabilityOptions {
  std::int64_t nodes = 6;
  std::int64_t edges = 8;
};

/// Different directed edges between different nodes, one per row: one-hot(from) | one-hot(to) | 0. The last row asks
/// whether a path leads from a to b: one-hot(a) | one-hot(b) | 1. Half of the answers are yes (class 1). An edge leaves
/// a and one enters b whatever the answer is, so that neither node alone gives it away. T = edges + 1, I = 2 nodes + 1,
/// O = 2 classes.
class GraphReachability final : public Task {
 public:
  /// Throws ValueError unless there are 4 to 64 nodes and 2 to 2 * nodes edges: with fewer there is no such graph
  /// without a path, with more it is hard to find.
  explicit GraphReachability(const GraphReachabilityOptions& options = {});
  /// The task by name: the TaskOptions that it has, and the task with those that are given.
  static constexpr std::string_view option_names = "nodes, edges";
  static std::unique_ptr<Task> make(const TaskOptions& given);

  std::int64_t input_size() const override { return 2 * options_.nodes + 1; }
  std::int64_t sequence_length() const override { return options_.edges + 1; }
  std::int64_t output_size() const override { return 2; }
  /// The trivial answer looks for the edge from a to b alone, the shortcut for a path of two edges too. Both are
  /// simulated.
  Baselines baselines() const override;
  /// The length of the shortest path.
  std::vector<Category> categories(const Example& example, std::int64_t answer) const override;
  std::string describe_row(const Example& example, std::int64_t t) const override;
  std::string describe_label(std::int64_t label) const override;
  std::int64_t topic(const Example& example, std::int64_t t) const override;

 private:
  void fill(Random& random, const Batch& batch) const override;

  GraphReachabilityOptions options_;
};

}  // namespace retrace

#include <retrace/models/tasks/graph_reachability.h>
#include <retrace/models/tasks/simulated.h>

#include <array>
#include <bit>

namespace retrace {
namespace {

constexpr std::int64_t max_nodes = 64;  // a set of nodes is a word

struct Edge {
  std::int64_t from;
  std::int64_t to;
};

/// A pair of different nodes.
Edge any_edge(Random& random, std::int64_t nodes) {
  const std::int64_t from = random.integer(nodes), to = random.integer(nodes - 1);
  return {from, to + (to >= from ? 1 : 0)};
}

/// The sets of nodes that edges lead to.
class Graph {
 public:
  /// False if the edge was there before.
  bool add(Edge edge) {
    const bool is_new = !has(edge);
    next_[index(edge.from)] |= set_of(edge.to);
    entered_ |= set_of(edge.to);
    return is_new;
  }
  bool has(Edge edge) const { return (next_[index(edge.from)] & set_of(edge.to)) != 0; }
  bool leaves(std::int64_t node) const { return next_[index(node)] != 0; }
  bool enters(std::int64_t node) const { return (entered_ & set_of(node)) != 0; }

  /// Edges of the shortest path; -1 without one.
  std::int64_t distance(Edge ends) const {
    std::uint64_t reached = set_of(ends.from), newly = reached;
    for (std::int64_t edges = 1; newly != 0; ++edges) {
      std::uint64_t next = 0;
      for (std::uint64_t left = newly; left != 0; left &= left - 1) next |= next_[index(std::countr_zero(left))];
      if ((next & set_of(ends.to)) != 0) return edges;
      newly = next & ~reached;
      reached |= next;
    }
    return -1;
  }

 private:
  static std::size_t index(std::int64_t node) { return static_cast<std::size_t>(node); }
  static std::uint64_t set_of(std::int64_t node) { return std::uint64_t{1} << node; }

  std::array<std::uint64_t, max_nodes> next_{};
  std::uint64_t entered_ = 0;
};

struct Sample {
  std::array<Edge, 2 * max_nodes> edges;
  Edge asked;
  std::int64_t distance;  // -1: no path
};

/// Draws graphs and questions until one has the answer that was drawn first.
Sample draw(Random& random, const GraphReachabilityOptions& options) {
  const bool yes = random.chance(0.5);
  Sample sample;
  for (;;) {
    Graph graph;
    for (std::size_t k = 0; k < static_cast<std::size_t>(options.edges); ++k) {
      do {
        sample.edges[k] = any_edge(random, options.nodes);
      } while (!graph.add(sample.edges[k]));
    }
    sample.asked = any_edge(random, options.nodes);
    if (!graph.leaves(sample.asked.from) || !graph.enters(sample.asked.to)) continue;
    sample.distance = graph.distance(sample.asked);
    if ((sample.distance > 0) == yes) return sample;
  }
}

}  // namespace

GraphReachability::GraphReachability(const GraphReachabilityOptions& options)
    : Task("graph-reachability", TaskKind::classification), options_(options) {
  if (options.nodes < 4 || options.nodes > max_nodes || options.edges < 2 || options.edges > 2 * options.nodes)
    throw ValueError(text("graph-reachability: ", options.edges, " edges between ", options.nodes,
                          " nodes make no questions; take 4 to ", max_nodes, " nodes and 2 to 2 * nodes edges"));
}

std::unique_ptr<Task> GraphReachability::make(const TaskOptions& given) {
  GraphReachabilityOptions options;
  options.nodes = given.nodes.value_or(options.nodes);
  options.edges = given.edges.value_or(options.edges);
  return std::make_unique<GraphReachability>(options);
}

Baselines GraphReachability::baselines() const {
  const auto right_by_paths_up_to = [this](std::int64_t edges) {
    return simulated_share([&](Random& random) {
      const std::int64_t distance = draw(random, options_).distance;
      return (distance > 0) == (distance > 0 && distance <= edges);
    });
  };
  return {.chance = 0.5,
          .trivial = right_by_paths_up_to(1),
          .trivial_answer = "yes if one edge joins them",
          .ceiling = 1,
          .shortcuts = {{"yes if one or two edges join them", right_by_paths_up_to(2)}}};
}

void GraphReachability::fill(Random& random, const Batch& batch) const {
  const std::int64_t nodes = options_.nodes;
  std::int64_t* answer = batch.y.mutable_values<std::int64_t>().data();
  dispatch_real(batch.x.dtype(), "graph-reachability", [&](auto zero) {
    using T = decltype(zero);
    T* row = batch.x.mutable_values<T>().data();
    const auto tell = [&](Edge edge) {
      row[edge.from] = row[nodes + edge.to] = 1;
      row += input_size();
    };
    for (std::int64_t sample = 0; sample < batch.x.dim(0); ++sample) {
      const Sample drawn = draw(random, options_);
      for (std::int64_t k = 0; k < options_.edges; ++k) tell(drawn.edges[static_cast<std::size_t>(k)]);
      row[2 * nodes] = 1;
      tell(drawn.asked);
      answer[sample] = drawn.distance > 0 ? 1 : 0;
    }
  });
}

namespace {

Edge edge_in(const Example& example, std::int64_t t, std::int64_t nodes) {
  return {hot(columns(example.row(t), 0, nodes)), hot(columns(example.row(t), nodes, nodes))};
}

}  // namespace

std::vector<Category> GraphReachability::categories(const Example& example, std::int64_t) const {
  Graph graph;
  for (std::int64_t t = 0; t < options_.edges; ++t) graph.add(edge_in(example, t, options_.nodes));
  const std::int64_t distance = graph.distance(edge_in(example, options_.edges, options_.nodes));
  return {{"edges of the shortest path", distance, distance < 0 ? "no path" : ""}};
}

std::string GraphReachability::describe_row(const Example& example, std::int64_t t) const {
  const auto [from, to] = edge_in(example, t, options_.nodes);
  return t == options_.edges ? text("does a path lead from ", from, " to ", to, "?") : text(from, " -> ", to);
}

std::string GraphReachability::describe_label(std::int64_t label) const { return label == 1 ? "yes" : "no"; }

std::int64_t GraphReachability::topic(const Example& example, std::int64_t t) const {
  return edge_in(example, t, options_.nodes).from;
}

}  // namespace retrace

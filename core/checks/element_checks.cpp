#include <retrace/core/checks/element_checks.h>

#include <algorithm>

#include <retrace/core/checks/three_ways.h>
#include <retrace/core/tensor/random.h>

namespace retrace {
namespace {

/// The leaf of that name in the trace; -1 if it has none.
int find_leaf(const Trace& trace, const std::string& name) {
  const auto found =
      std::ranges::find_if(trace.nodes, [&](const TraceNode& node) { return node.leaf && node.name == name; });
  return found == trace.nodes.end() ? -1 : static_cast<int>(found - trace.nodes.begin());
}

/// An element that the trace has; 0 for a leaf without a gradient, because nothing flowed to it.
double gradient_at(const TraceNode& node, std::int64_t position) {
  if (!node.gradient.exists()) return 0;
  return dispatch_any(node.gradient.values.dtype(), [&](auto zero) {
    return static_cast<double>(node.gradient.values.values<decltype(zero)>()[static_cast<std::size_t>(position)]);
  });
}

/// Throws ShapeError unless there is a number for each result, and DtypeError if f cannot compute in f64.
ThreeWays three_ways(const std::function<Tensors()>& f, const NamedLeaves& leaves, const Tensors& cotangents) {
  const std::vector<double> u = cotangents.empty() ? std::vector<double>{1} : all_numbers(cotangents);
  ThreeWays ways(f, leaves, u);
  try {
    if (const std::size_t results = ways.results(); results != u.size())
      throw ShapeError(text("check_elements: f gives ", results, " real numbers, and the cotangents have ", u.size(),
                            "; give one cotangent of the shape of each result"));
  } catch (const DtypeError& error) {
    throw DtypeError(text("check_elements: ", error.what(),
                          "; f runs in f64 here: give all its leaves, and convert what else it captures with "
                          "to(default_dtype())"));
  }
  return ways;
}

}  // namespace

void check_elements(Trace& trace, const std::function<Tensors()>& f, const NamedLeaves& leaves,
                    const Tensors& cotangents, const ElementCheckOptions& options) {
  NamedLeaves traced;
  std::vector<int> nodes;
  for (const auto& [name, leaf] : leaves)
    if (const int node = find_leaf(trace, name); node >= 0 && leaf.dtype() != i64) {
      traced.emplace_back(name, leaf);
      nodes.push_back(node);
    }
  const DtypeScope scope(f64);
  ThreeWays ways = three_ways(f, traced, cotangents);
  for (std::size_t k = 0; k < traced.size(); ++k) {
    const TraceNode& node = trace.nodes[static_cast<std::size_t>(nodes[k])];
    const std::int64_t held = node.gradient.exists() ? node.gradient.values.numel() : node.shape.numel();
    std::vector<std::int64_t> positions = Random(options.seed).stream(node.name).permutation(held);
    positions.resize(static_cast<std::size_t>(std::min(held, options.per_leaf)));
    std::ranges::sort(positions);
    for (const std::int64_t position : positions) {
      const auto element = static_cast<std::size_t>(position);
      const double by_tape = gradient_at(node, position);
      trace.checks.push_back({.node = nodes[k],
                              .position = position,
                              .tape = by_tape,
                              .dual = ways.by_duals(k, element),
                              .difference = ways.by_difference(k, element, by_tape)});
    }
  }
}

}  // namespace retrace

#include <retrace/core/checks/element_checks.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include <retrace/core/checks/checked_function.h>
#include <retrace/core/tensor/random.h>

namespace retrace {
namespace {

constexpr double first_step_of_difference = 4e-3;  // of the difference, times max(1, |x|)
constexpr double tolerance_of_difference = 1e-10;  // at which it has converged
constexpr double agreement = 1e-7;                 // with the tape; shorter steps are tried where it fails

std::vector<double> numbers_of_cotangents(const Tensors& cotangents) {
  if (cotangents.empty()) return {1};
  std::vector<double> numbers;
  for (const Tensor& cotangent : cotangents) {
    const Tensor converted = as_f64(cotangent);
    numbers.insert(numbers.end(), converted.values<double>().begin(), converted.values<double>().end());
  }
  return numbers;
}

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

class ElementChecker {
 public:
  ElementChecker(const std::function<Tensors()>& f, const NamedLeaves& leaves, const Tensors& cotangents)
      : f_(f, leaves), u_(numbers_of_cotangents(cotangents)) {
    if (const std::size_t results = count_results(); results != u_.size())
      throw ShapeError(text("check_elements: f gives ", results, " real numbers, and the cotangents have ", u_.size(),
                            "; give one cotangent of the shape of each result"));
  }

  double by_difference(std::size_t leaf, std::size_t element, double by_tape) const {
    double& x = f_.values(leaf)[element];
    const auto agrees = [by_tape](const Difference& it) {
      return it.converged && std::abs(it.value - by_tape) <= agreement * std::abs(by_tape);
    };
    return extrapolated_difference([&](double h) { return f_.slope(x, h, u_); },
                                   first_step_of_difference * std::max(1.0, std::abs(x)), tolerance_of_difference,
                                   std::abs(by_tape), agrees)
        .value;
  }

  double by_duals(std::size_t leaf, std::size_t element) {
    LeafNumbers direction = f_.zeros();
    direction[leaf][element] = 1;
    try {
      return f_.push_forward(direction, u_).value;
    } catch (const DtypeError&) {
      return std::numeric_limits<double>::quiet_NaN();
    }
  }

 private:
  std::size_t count_results() const {
    try {
      return f_.evaluate().size();
    } catch (const DtypeError& error) {
      throw DtypeError(text("check_elements: ", error.what(),
                            "; f runs in f64 here: give all its leaves, and convert what else it captures with "
                            "to(default_dtype())"));
    }
  }

  CheckedFunction f_;
  std::vector<double> u_;
};

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
  ElementChecker checker(f, traced, cotangents);
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
                              .dual = checker.by_duals(k, element),
                              .difference = checker.by_difference(k, element, by_tape)});
    }
  }
}

}  // namespace retrace

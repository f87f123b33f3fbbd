// A trace as a drawing in the DOT language of Graphviz.
#include <retrace/core/base/printable.h>
#include <retrace/core/trace/inspect.h>
#include <retrace/core/trace/repeated_steps.h>

#include <map>
#include <set>
#include <vector>

namespace retrace {
namespace {

std::string dot_string(const std::string& label) {
  std::string result = "\"";
  for (const char c : printable_lines(label)) {
    if (c == '"' || c == '\\') result += '\\';
    result += c == '\n' ? std::string("\\n") : std::string(1, c);
  }
  return result + "\"";
}

// "\nx0 = (1, 2)\ndx0 = (3, 4)", as far as they are there.
std::string numbers_of(const TraceNode& node) {
  std::string result;
  if (node.value.exists()) result += text("\n", node.name, " = ", short_text(node.value));
  if (node.gradient.exists()) result += text("\nd", node.name, " = ", short_text(node.gradient));
  return result;
}

/// "h ... h_3\n|dh| = 0.18 ... 0.7": an output of a step and of its repetitions, with the norms of their gradients.
std::string over_steps(const TraceNode& first, const TraceNode& last) {
  std::string result = first.name.starts_with('%') ? "" : text("\n", first.name, " ... ", last.name);
  if (first.gradient.is_complete() && last.gradient.is_complete())
    result +=
        text("\n|d| = ", statistics_of(first.gradient.values).norm, " ... ", statistics_of(last.gradient.values).norm);
  return result;
}

class DotWriter {
 public:
  explicit DotWriter(const Trace& trace)
      : trace_(trace),
        makers_(trace.nodes.size()),
        first_(first_of_repeated(trace)),
        last_(first_),
        steps_(first_.size()) {
    for (std::size_t r = 0; r < first_.size(); ++r) last_[first_[r]] = r, ++steps_[first_[r]];
  }

  std::string drawing() {
    dot_ = "digraph tape {\n  rankdir=LR;\n";
    if (!trace_.title.empty()) dot_ += text("  label=", dot_string(trace_.title), ";\n");
    int leaves = 0;
    for (std::size_t k = 0; k < trace_.nodes.size(); ++k)
      if (trace_.nodes[k].leaf) add_leaf(k, leaves++);
    add_scope("", "  ");
    for (std::size_t r = 0; r < trace_.records.size(); ++r) add_edges(r);
    return dot_ + "}\n";
  }

 private:
  const TraceNode& output(std::size_t r, std::size_t j) const {
    return trace_.nodes[static_cast<std::size_t>(trace_.records[r].outputs[j])];
  }
  void add_leaf(std::size_t k, int number) {
    const TraceNode& node = trace_.nodes[k];
    makers_[k] = text("leaf", number);
    const std::string numbers = numbers_of(node);
    dot_ += text("  ", makers_[k],
                 " [shape=ellipse, label=", dot_string(numbers.empty() ? node.name : numbers.substr(1)), "];\n");
  }
  /// The records of a scope, and a cluster for each scope in it: one for all calls of a module.
  void add_scope(const std::string& path, const std::string& indent) {
    for (std::size_t r = 0; r < trace_.records.size(); ++r)
      if (trace_.records[r].path == path) add_record(r, indent);
    for (std::size_t s = 0; s < trace_.scopes.size(); ++s) {
      const TraceScope& scope = trace_.scopes[s];
      const std::string outer = scope.outer < 0 ? "" : trace_.scopes[static_cast<std::size_t>(scope.outer)].path;
      if (outer != path || !drawn_.insert(scope.path).second) continue;
      dot_ += text(indent, "subgraph cluster", s, " {\n", indent, "  label=", dot_string(scope.name), ";\n");
      add_scope(scope.path, indent + "  ");
      dot_ += indent + "}\n";
    }
  }
  /// A box for a record, or for all steps that repeat it.
  void add_record(std::size_t r, const std::string& indent) {
    const TraceRecord& record = trace_.records[r];
    for (const int output : record.outputs) makers_[static_cast<std::size_t>(output)] = text("op", first_[r]);
    if (first_[r] != r) return;
    std::string label = steps_[r] == 1 ? record.op : text(record.op, " x ", steps_[r]);
    for (std::size_t j = 0; j < record.outputs.size(); ++j)
      label += steps_[r] == 1 ? numbers_of(output(r, j)) : over_steps(output(r, j), output(last_[r], j));
    dot_ += text(indent, "op", r, " [shape=box, label=", dot_string(label),
                 ", tooltip=", dot_string(record.formulas.forward + "\n" + record.formulas.backward), "];\n");
  }
  void add_edges(std::size_t r) {
    for (const int input : trace_.records[r].inputs) {
      const std::size_t k = static_cast<std::size_t>(input);
      const std::string edge =
          text("  ", makers_[k], " -> op", first_[r], " [label=\"", trace_.nodes[k].shape, "\"];\n");
      if (steps_[first_[r]] == 1 || drawn_.insert(edge).second) dot_ += edge;
    }
  }

  const Trace& trace_;
  std::vector<std::string> makers_;        // by node: the box or ellipse that it comes from
  std::vector<std::size_t> first_, last_;  // by record: of the steps that repeat it
  std::vector<std::int64_t> steps_;        // by first record
  std::set<std::string> drawn_;            // scopes, and edges of repeated steps
  std::string dot_;
};

}  // namespace

std::string to_dot(const Trace& trace) { return DotWriter(trace).drawing(); }

std::string to_dot(const Tape& tape, const Names& names) { return to_dot(trace_of(tape, {.names = names})); }

}  // namespace retrace

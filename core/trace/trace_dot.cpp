// A trace as a drawing in the DOT language of Graphviz.
#include <retrace/core/base/printable.h>
#include <retrace/core/trace/inspect.h>

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

class DotWriter {
 public:
  explicit DotWriter(const Trace& trace) : trace_(trace), makers_(trace.nodes.size()) {}

  std::string drawing() {
    dot_ = "digraph tape {\n  rankdir=LR;\n";
    if (!trace_.title.empty()) dot_ += text("  label=", dot_string(trace_.title), ";\n");
    int leaves = 0;
    for (std::size_t k = 0; k < trace_.nodes.size(); ++k)
      if (trace_.nodes[k].leaf) add_leaf(k, leaves++);
    add_scope(-1, "  ");
    for (std::size_t r = 0; r < trace_.records.size(); ++r) add_edges(r);
    return dot_ + "}\n";
  }

 private:
  void add_leaf(std::size_t k, int number) {
    const TraceNode& node = trace_.nodes[k];
    makers_[k] = text("leaf", number);
    const std::string numbers = numbers_of(node);
    dot_ += text("  ", makers_[k],
                 " [shape=ellipse, label=", dot_string(numbers.empty() ? node.name : numbers.substr(1)), "];\n");
  }
  /// The records of a scope, and a cluster for each scope in it.
  void add_scope(int scope, const std::string& indent) {
    for (std::size_t r = 0; r < trace_.records.size(); ++r)
      if (trace_.records[r].scope == scope) add_record(r, indent);
    for (std::size_t s = 0; s < trace_.scopes.size(); ++s) {
      if (trace_.scopes[s].outer != scope) continue;
      dot_ += text(indent, "subgraph cluster", s, " {\n", indent, "  label=", dot_string(trace_.scopes[s].name), ";\n");
      add_scope(static_cast<int>(s), indent + "  ");
      dot_ += indent + "}\n";
    }
  }
  void add_record(std::size_t r, const std::string& indent) {
    const TraceRecord& record = trace_.records[r];
    std::string label = record.op;
    for (const int output : record.outputs) {
      label += numbers_of(trace_.nodes[static_cast<std::size_t>(output)]);
      makers_[static_cast<std::size_t>(output)] = text("op", r);
    }
    dot_ += text(indent, "op", r, " [shape=box, label=", dot_string(label),
                 ", tooltip=", dot_string(record.formulas.forward + "\n" + record.formulas.backward), "];\n");
  }
  void add_edges(std::size_t r) {
    for (const int input : trace_.records[r].inputs) {
      const std::size_t k = static_cast<std::size_t>(input);
      dot_ += text("  ", makers_[k], " -> op", r, " [label=\"", trace_.nodes[k].shape, "\"];\n");
    }
  }

  const Trace& trace_;
  std::vector<std::string> makers_;  // by node: the box or ellipse that it comes from
  std::string dot_;
};

}  // namespace

std::string to_dot(const Trace& trace) { return DotWriter(trace).drawing(); }

std::string to_dot(const Tape& tape, const Names& names) { return to_dot(trace_of(tape, {.names = names})); }

}  // namespace retrace

#include <retrace/core/base/printable.h>
#include <retrace/models/formats/text_table.h>
#include <retrace/models/study/terminal/flow_text.h>
#include <retrace/models/study/terminal/trace_text.h>

#include <array>
#include <cstdio>
#include <sstream>

namespace retrace {
namespace {

/// The name of an element of a gradient: "dw[2, 0]".
std::string element_text(const TraceNode& node, std::int64_t position) {
  std::string place;
  for (int axis = node.shape.rank() - 1; axis >= 0; --axis) {
    place = text(position % node.shape[axis], place.empty() ? "" : ", ", place);
    position /= node.shape[axis];
  }
  return text("d", printable(node.name), "[", place, "]");
}

/// Says where the first gradients of a backward are: "  from the seed, dL / d%15[4, 8]".
std::string seeds_text(const Trace& trace) {
  std::string result;
  for (const TraceSeed& seed : trace.seeds) {
    const TraceNode& node = trace.nodes[static_cast<std::size_t>(seed.node)];
    result += text("  from the seed, dL / d", printable(node.name), node.shape, "\n");
  }
  return result;
}

}  // namespace

std::string checks_text(const Trace& trace, int node) {
  constexpr std::size_t width = 26;
  std::string result;
  for (const ElementCheck& check : trace.checks) {
    if (node >= 0 && check.node != node) continue;
    std::string name = "  " + element_text(trace.nodes[static_cast<std::size_t>(check.node)], check.position);
    name += name.size() <= width + 2 ? std::string(width + 2 - name.size(), ' ')  // long names take a line
                                     : "\n" + std::string(width + 2, ' ');
    for (const double number : {check.tape, check.dual, check.difference}) {
      std::array<char, 32> digits;
      std::snprintf(digits.data(), digits.size(), " %16.9g", without_nan_sign(number));
      name += digits.data();
    }
    result += name + "\n";
  }
  const std::string columns = "                             ";
  return result.empty() ? result
                        : text("one element by three ways\n", columns,
                               "            tape             dual       difference\n", result);
}

std::vector<TraceStep> steps_of(const Trace& trace) {
  std::vector<TraceStep> steps;
  for (std::size_t r = 0; r < trace.records.size(); ++r) steps.push_back({r, false});
  for (std::size_t r = trace.records.size(); r-- > 0;)
    if (trace.records[r].reached) steps.push_back({r, true});
  return steps;
}

std::string heading_of(const Trace& trace) {
  const std::size_t count = trace.records.size();
  return text(trace.title.empty() ? "a trace" : printable(trace.title), ": ", count,
              count == 1 ? " record" : " records");
}

std::string introduction_of(const Trace& trace, int columns) {
  std::string result = wrapped(heading_of(trace), "", static_cast<std::size_t>(columns));
  for (const std::string& note : trace.notes)
    for (const std::string& line : lines_of(printable_lines(note)))
      result += wrapped(line, "  ", static_cast<std::size_t>(columns));
  return result;
}

std::string to_text(const Trace& trace, const ArrayStyle& style) {
  std::string result = introduction_of(trace, style.columns);
  bool backward = false;
  for (const TraceStep& step : steps_of(trace)) {
    if (step.backward && !backward) result += "\nbackward\n" + seeds_text(trace);
    backward = step.backward;
    result += "\n" + to_text(card_of(trace, step), style);
  }
  if (!trace.checks.empty()) result += "\n" + checks_text(trace);
  return trace.flows.empty() ? result : text(result, "\n", to_text(trace.flows, style));
}

}  // namespace retrace

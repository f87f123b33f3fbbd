#include <retrace/core/printable.h>
#include <retrace/models/study/terminal/flow_text.h>
#include <retrace/models/study/terminal/trace_text.h>

#include <array>
#include <cstdio>

namespace retrace {
namespace {

const TraceNode& node_of(const Trace& trace, int number) { return trace.nodes[static_cast<std::size_t>(number)]; }

std::string described(const TraceNode& node) { return text(printable(node.name), node.shape); }

std::string listed(const Trace& trace, const std::vector<int>& nodes) {
  std::string result;
  for (const int node : nodes) result += text(result.empty() ? "" : ", ", described(node_of(trace, node)));
  return result;
}

/// The lines of a text, moved to the right.
std::string indented(const std::string& lines) {
  std::string result;
  bool begins = true;
  for (const char c : lines) {
    if (begins && c != '\n') result += "    ";
    begins = c == '\n';
    result += c;
  }
  return result;
}

std::string array(const std::string& name, const Capture& capture, const ArrayStyle& style) {
  return text("  ", name, "\n", indented(numbers_text(capture, {style.columns - 4, style.colour})));
}

std::string value_text(const AttributeValue& value) {
  if (const bool* truth = std::get_if<bool>(&value)) return to_text(*truth);
  if (const std::int64_t* integer = std::get_if<std::int64_t>(&value)) return to_text(*integer);
  if (const double* number = std::get_if<double>(&value)) return to_text(*number);
  if (const std::string* words = std::get_if<std::string>(&value)) return printable(*words);
  if (const Tensor* tensor = std::get_if<Tensor>(&value))
    return tensor->defined() ? text("a tensor ", tensor->shape()) : std::string("none");
  std::string list;
  for (const std::int64_t integer : std::get<std::vector<std::int64_t>>(value))
    list += text(list.empty() ? "" : ", ", integer);
  return "[" + list + "]";
}

std::string attributes_text(const TraceRecord& record) {
  std::string result;
  for (const Attribute& attribute : record.attributes)
    result += text(result.empty() ? "" : ", ", printable(attribute.name), " ", value_text(attribute.value));
  return result;
}

std::string forward_text(const Trace& trace, const TraceRecord& record, const ArrayStyle& style) {
  std::string result = text("  ", printable(record.formulas.forward), "\n");
  if (const std::string attributes = attributes_text(record); !attributes.empty())
    result += text("  ", attributes, "\n");
  for (std::size_t i = 0; i < record.inputs.size(); ++i) {
    const TraceNode& input = node_of(trace, record.inputs[i]);
    result += array(text(printable(record.input_names[i]), " = ", described(input)), input.value, style);
  }
  for (const int number : record.outputs) {
    const TraceNode& output = node_of(trace, number);
    result += array(text("-> ", described(output)), output.value, style);
  }
  return result;
}

std::string backward_text(const Trace& trace, const TraceRecord& record, const ArrayStyle& style) {
  std::string result = text("  ", printable(record.formulas.backward), "\n");
  for (std::size_t j = 0; j < record.outputs.size(); ++j)
    if (record.output_gradients[j].exists())
      result +=
          array(text("d", described(node_of(trace, record.outputs[j])), " arrived"), record.output_gradients[j], style);
  for (std::size_t i = 0; i < record.inputs.size(); ++i) {
    if (!record.contributions[i]) continue;
    const Contribution& part = *record.contributions[i];
    const TraceNode& input = node_of(trace, record.inputs[i]);
    result += array(text("-> d", printable(record.input_names[i]), " = d", described(input)), part.contribution, style);
    if (!part.before.exists()) continue;
    result += array(text("   before, d", printable(input.name)), part.before, style);
    result += array(text("   before + this"), part.after, style);
  }
  return result;
}

/// The name of an element of a gradient: "dw[2, 0]".
std::string element_text(const TraceNode& node, std::int64_t position) {
  std::string place;
  for (int axis = node.shape.rank() - 1; axis >= 0; --axis) {
    place = text(position % node.shape[axis], place.empty() ? "" : ", ", place);
    position /= node.shape[axis];
  }
  return text("d", printable(node.name), "[", place, "]");
}

}  // namespace

std::string checks_text(const Trace& trace, int node) {
  constexpr std::size_t width = 26;
  std::string result;
  for (const ElementCheck& check : trace.checks) {
    if (node >= 0 && check.node != node) continue;
    std::string name = "  " + element_text(node_of(trace, check.node), check.position);
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

std::string heading_of(const Trace& trace, const TraceStep& step) {
  const TraceRecord& record = trace.records[step.record];
  const std::string path = record.path.empty() ? "" : printable(record.path) + "  ", op = printable(record.op);
  if (!step.backward)
    return text(step.record, "  ", path, listed(trace, record.outputs), " <- ", op, " ", listed(trace, record.inputs));
  return text(step.record, "  ", path, "backward of ", op);
}

std::string to_text(const Trace& trace, const TraceStep& step, const ArrayStyle& style) {
  const TraceRecord& record = trace.records[step.record];
  return heading_of(trace, step) + "\n" +
         (step.backward ? backward_text(trace, record, style) : forward_text(trace, record, style));
}

std::string to_text(const Trace& trace, const ArrayStyle& style) {
  std::string result = heading_of(trace) + "\n";
  bool backward = false;
  for (const TraceStep& step : steps_of(trace)) {
    if (step.backward && !backward) result += "\nbackward\n";
    backward = step.backward;
    result += "\n" + to_text(trace, step, style);
  }
  if (!trace.checks.empty()) result += "\n" + checks_text(trace);
  return trace.flows.empty() ? result : text(result, "\n", to_text(trace.flows, style));
}

}  // namespace retrace

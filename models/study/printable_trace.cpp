#include <retrace/core/base/printable.h>
#include <retrace/models/study/printable_trace.h>

namespace retrace {

Trace with_printable_names(Trace trace) {
  const auto clean = [](std::string& text) { text = printable(text); };
  trace.title = printable_lines(trace.title);
  for (std::string& note : trace.notes) note = printable_lines(note);
  for (TraceNode& node : trace.nodes) {
    clean(node.name);
    for (std::string& name : node.row_names) clean(name);
  }
  for (TraceScope& scope : trace.scopes) clean(scope.name), clean(scope.path), clean(scope.type);
  for (TraceRecord& record : trace.records) {
    for (std::string* text : {&record.op, &record.path, &record.formulas.forward, &record.formulas.backward})
      clean(*text);
    for (std::string& name : record.input_names) clean(name);
    for (Attribute& attribute : record.attributes) {
      clean(attribute.name);
      if (auto* text = std::get_if<std::string>(&attribute.value)) clean(*text);
    }
  }
  for (GradientFlow& flow : trace.flows) {
    clean(flow.title);
    for (GradientFlow::Norms& norms : flow.norms) clean(norms.name);
  }
  return trace;
}

}  // namespace retrace

#include <retrace/core/inspect.h>
#include <retrace/core/safetensors.h>
#include <retrace/core/trace_file.h>
#include <retrace/core/trace_json.h>
#include <retrace/models/cli/study_flags.h>
#include <retrace/models/cli/terminal.h>
#include <retrace/models/study/expression_study.h>
#include <retrace/models/study/page.h>
#include <retrace/models/study/terminal/flow_text.h>
#include <retrace/models/study/terminal/stepper.h>
#include <retrace/models/study/terminal/trace_text.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <ostream>

namespace retrace {
namespace {

bool is_trace(const std::string& path) {
  return std::filesystem::is_regular_file(path) && read_safetensors(path).metadata.contains("retrace.trace");
}

/// Exactly one of the subject and the expression must be there.
void check_what(const StudyFlags& flags) {
  const bool own = !flags.expression.text.empty();
  if (own && !flags.subject.empty())
    throw ValueError(text("study: there is a subject, ", flags.subject, ", and an expression; leave one of them out"));
  if (!own && flags.subject.empty())
    throw ValueError(
        "study: nothing to show; name a subject (attention), a folder of train --out or a stored trace, or give --expr "
        "\"softmax(matmul(q, transpose(k)) / 2)\" --input q=4x8 --input k=4x8");
}

Computation expression_of(const StudyFlags& flags) {
  const Expression expression = parse_expression(flags.expression.text);
  ExpressionFlags with_seed = flags.expression;
  with_seed.seed = flags.options.seed;
  return computation_of(expression, inputs_of(with_seed, flags.options.dtype), with_seed.seed);
}

Computation computation_for(const StudyFlags& flags) {
  if (!flags.expression.text.empty()) return expression_of(flags);
  const std::vector<std::string_view> names = subject_names();
  const bool is_subject = std::ranges::find(names, flags.subject) != names.end();
  if (is_subject || !std::filesystem::exists(flags.subject)) return subject(flags.subject, flags.options);
  return computation_of(std::make_shared<StoredRun>(load_run(flags.subject)), flags.stored);
}

Trace stored_trace(const StudyFlags& flags) {
  Trace trace = load_trace(flags.subject);
  if (flags.gradient_flow && trace.flows.empty())
    throw ValueError(
        text("study: the trace ", flags.subject, " has no gradient flow; make one with --gradient-flow and --trace"));
  if (flags.check_elements > 0)
    throw ValueError(
        text("study: ", flags.subject,
             " is a trace, which cannot be run again; give --check-elements where it is made, with --trace"));
  return trace;
}

Trace trace_for(const StudyFlags& flags) {
  const std::vector<std::string_view> names = subject_names();
  const bool may_be_a_file = !flags.subject.empty() && std::ranges::find(names, flags.subject) == names.end();
  if (may_be_a_file && is_trace(flags.subject)) return stored_trace(flags);
  const Computation computation = computation_for(flags);
  Trace trace = trace_of(computation, {.expand_fused = !flags.fused});
  // What nobody asked for is there where it is cheap. The result of a trained model is a loss.
  const bool is_cheap = computation.cotangents && trace.records.size() <= 1000;
  const std::int64_t elements = flags.check_elements >= 0 ? flags.check_elements : is_cheap ? 2 : 0;
  if (elements > 0) check_elements(trace, computation, elements);
  if (flags.gradient_flow || (is_cheap && !flags.out.empty() && computation.through_time))
    trace.flows = gradient_flow_of(computation);
  return trace;
}

ArrayStyle style_of(const Program& program) {
  const char* no_colour = std::getenv("NO_COLOR");
  const bool colour = program.keyboard != nullptr && (no_colour == nullptr || *no_colour == '\0');
  return {.columns = program.keyboard != nullptr ? std::max(40, terminal_columns()) : 80, .colour = colour};
}

}  // namespace

void run_study(const StudyFlags& flags, Program& program) {
  check_what(flags);
  const Trace trace = trace_for(flags);
  if (!flags.trace_file.empty()) save(trace, flags.trace_file);
  if (!flags.out.empty()) write_page(trace, flags.out);
  for (const std::string& written : {flags.trace_file, flags.out})
    if (!written.empty()) program.messages << "wrote " << written << std::endl;
  if (flags.json)
    program.results << to_json(trace) << std::endl;
  else if (flags.dot)
    program.results << to_dot(trace) << std::flush;
  else if (!flags.trace_file.empty() || !flags.out.empty())
    return;
  else if (flags.gradient_flow)
    program.results << text(heading_of(trace), "\n", to_text(trace.flows, style_of(program))) << std::flush;
  else if (program.keyboard != nullptr)
    step_through(trace, *program.keyboard, program.results, style_of(program));
  else
    program.results << to_text(trace, style_of(program)) << std::flush;
}

}  // namespace retrace

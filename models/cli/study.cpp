#include <retrace/core/trace/inspect.h>
#include <retrace/core/trace/trace_file.h>
#include <retrace/core/trace/trace_json.h>
#include <retrace/models/cli/page_maker.h>
#include <retrace/models/cli/study_flags.h>
#include <retrace/models/cli/terminal.h>
#include <retrace/models/study/expression_study.h>
#include <retrace/models/study/page.h>
#include <retrace/models/study/printable_trace.h>
#include <retrace/models/study/stored_study.h>
#include <retrace/models/study/terminal/flow_text.h>
#include <retrace/models/study/terminal/stepper.h>
#include <retrace/models/study/terminal/trace_summary.h>
#include <retrace/models/study/terminal/trace_text.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <initializer_list>
#include <memory>
#include <ostream>
#include <span>
#include <utility>

namespace retrace {
namespace {

bool is_subject(const std::string& name) {
  const std::vector<std::string_view> names = subject_names();
  return std::ranges::find(names, name) != names.end();
}

/// Exactly one of the subject and the expression must be there.
void check_what(const StudyFlags& flags) {
  const bool own = !flags.expression.text.empty();
  if (own && !flags.subject.empty())
    throw ValueError(text("study: there is a subject, ", flags.subject, ", and an expression; leave one of them out"));
  if (!flags.out.empty() && flags.out == flags.trace_file)
    throw ValueError(text("study: --out and --trace both name ", flags.out, "; give the page another name"));
  if (!own && flags.subject.empty())
    throw ValueError(
        "study: nothing to show; name a subject (attention), a folder of train --out or a stored trace, or give --expr "
        "\"softmax(matmul(q, transpose(k)) / 2)\" --input q=4x8 --input k=4x8");
}

/// --example and --worst choose among the test samples of a trained model; nothing else has any.
void check_no_sample(const StudyFlags& flags, const std::string& what) {
  if (flags.stored.example != 0 || flags.stored.worst)
    throw ValueError(text("study: ", what, " has no test samples; leave out ",
                          flags.stored.worst ? "--worst" : "--example", ", or name a folder of train --out"));
}

using FlagNames = std::span<const std::string_view>;

bool has_flag(FlagNames names, std::string_view flag) { return std::ranges::find(names, flag) != names.end(); }

/// Throws for a given flag that is in one of the lists `refused` and not among `own`, the options of what is studied.
void check_flags(const StudyFlags& flags, const std::string& what, FlagNames own,
                 std::initializer_list<FlagNames> refused) {
  for (const std::string& given : flags.given) {
    const auto has_given = [&](FlagNames names) { return has_flag(names, given); };
    if (std::ranges::none_of(refused, has_given) || has_given(own)) continue;
    std::string has;
    for (const std::string_view name : own) has += text(has.empty() ? "" : ", ", "--", name);
    throw ValueError(
        text("study: ", what, " has no --", given, "; leave it out", has.empty() ? "" : "; it has " + has));
  }
}

// Further flags that make a computation, in addition to the options of subjects: trained models have only --fused,
// expressions have all of them.
constexpr std::array<std::string_view, 3> flags_of_computations{"dtype", "seed", "fused"};
constexpr FlagNames of_random_weights = FlagNames(flags_of_computations).first(2);

/// Refuses outputs that would not show what was asked for.
void check_outputs(const StudyFlags& flags) {
  const std::string ending = std::filesystem::path(flags.out).extension().string();
  const bool names_file = !flags.out.empty() && !flags.out.ends_with('/') && !std::filesystem::is_directory(flags.out);
  if (names_file && ending != ".html" && ending != ".htm")
    throw ValueError(
        text("study: --out writes a page, and ", flags.out, " does not end in .html; give it that ending"));
  if (flags.all && (!flags.out.empty() || !flags.trace_file.empty()))
    throw ValueError("study: --all prints text, and --out and --trace write files instead; leave one of them out");
  if (!flags.dot || !flags.out.empty() || !flags.trace_file.empty()) return;
  if (flags.gradient_flow) throw ValueError("study: --dot draws no --gradient-flow; leave one of them out");
  if (flags.check_elements > 0) throw ValueError("study: --dot shows no --check-elements; leave one of them out");
}

Computation expression_of(const StudyFlags& flags) {
  const Expression expression = parse_expression(flags.expression.text);
  ExpressionFlags with_seed = flags.expression;
  with_seed.seed = flags.options.seed;
  return computation_of(expression, inputs_of(with_seed, flags.options.dtype), with_seed.seed);
}

Computation computation_for(const StudyFlags& flags) {
  if (!flags.expression.text.empty()) {
    check_no_sample(flags, "an expression");
    check_flags(flags, "an expression", {}, {options_of_subjects()});
    return expression_of(flags);
  }
  if (is_subject(flags.subject) || !std::filesystem::exists(flags.subject)) {
    Computation computation = subject(flags.subject, flags.options);
    check_no_sample(flags, flags.subject);
    check_flags(flags, flags.subject, options_of_subject(flags.subject), {options_of_subjects()});
    return computation;
  }
  check_flags(flags, text("the trained model ", flags.subject), {}, {options_of_subjects(), of_random_weights});
  return computation_of(std::make_shared<StoredRun>(load_run(flags.subject)), flags.stored);
}

Trace stored_trace(SafetensorsFile file, const StudyFlags& flags) {
  check_no_sample(flags, text("the trace ", flags.subject));
  check_flags(flags, text("the trace ", flags.subject), {}, {options_of_subjects(), flags_of_computations});
  Trace trace = trace_in(std::move(file), flags.subject);
  if (flags.gradient_flow && trace.flows.empty())
    throw ValueError(
        text("study: the trace ", flags.subject, " has no gradient flow; make one with --gradient-flow and --trace"));
  if (flags.check_elements > 0)
    throw ValueError(
        text("study: ", flags.subject,
             " is a trace, which cannot be run again; give --check-elements where it is made, with --trace"));
  return trace;
}

Trace trace_for(const StudyFlags& flags, std::ostream& messages) {
  if (!is_subject(flags.subject) && std::filesystem::is_regular_file(flags.subject))
    if (SafetensorsFile file = read_safetensors(flags.subject); holds_trace(file))
      return stored_trace(std::move(file), flags);
  const Computation computation = computation_for(flags);
  const HeldOptions held{.expand_fused = !flags.fused};
  Trace trace = trace_of(computation, held);
  if (const std::string what = not_finite_in(trace, computation, held); !what.empty())
    messages << "retrace study: " << what << std::endl;
  // Checks and flows are computed unasked where that is cheap. Only a trained model has a loss for a result.
  const bool is_cheap = computation.cotangents && trace.records.size() <= 1000;
  const std::int64_t elements = flags.check_elements >= 0          ? flags.check_elements
                                : is_cheap && is_derivative(trace) ? 2
                                                                   : 0;
  if (elements > 0) check_elements(trace, computation, elements);
  if (flags.gradient_flow || (is_cheap && !flags.out.empty() && computation.through_time))
    trace.flows = gradient_flow_of(computation);
  return trace;
}

ArrayStyle style_of(const Program& program) {
  if (program.keyboard == nullptr) return {};
  const char* no_colour = std::getenv("NO_COLOR");
  return {.columns = std::max(40, terminal_columns()),
          .colour = no_colour == nullptr || *no_colour == '\0',
          .lines = std::max(12, terminal_lines())};
}

/// Colours are control codes; the names in a trace have none.
std::ostream& text_of(const Program& program) { return style_of(program).colour ? program.data : program.results; }

/// ", 12.3 MB, ..." for a page that takes a browser seconds.
std::string warning_of_size(const std::string& page) {
  constexpr double megabyte = 1e6, large = 5;
  const double size = static_cast<double>(std::filesystem::file_size(page)) / megabyte;
  if (size < large) return {};
  return text(", ", std::round(10 * size) / 10,
              " MB, which a browser takes a while to open; fewer steps or a smaller --size make it smaller");
}

/// Says what was written as soon as it is there, because the second file may fail.
void write_files(const Trace& trace, const StudyFlags& flags, Program& program) {
  if (!flags.trace_file.empty()) {
    save(trace, flags.trace_file);
    program.messages << "wrote " << flags.trace_file << std::endl;
  }
  if (!flags.out.empty()) {
    write_page(trace, flags.out, maker_of(flags));
    program.messages << "wrote " << flags.out << warning_of_size(flags.out) << std::endl;
  }
}

/// A trace as text. Where nobody turns its pages, a long one is summed up.
std::string printed(const Trace& trace, const StudyFlags& flags, const ArrayStyle& style) {
  constexpr std::ptrdiff_t longest = 200;
  const std::string whole = to_text(trace, style);
  const std::ptrdiff_t lines = std::ranges::count(whole, '\n');
  if (flags.all || lines <= longest) return whole;
  return text(
      summary_of(trace), "\n--all prints every number of every step, ", lines,
      " lines; a terminal steps through them;\n--out x.html writes a page, --json and --dot print for programs\n");
}

void show(const Trace& trace, const StudyFlags& flags, Program& program) {
  if (flags.dot)
    program.results << to_dot(trace) << std::flush;
  else if (flags.gradient_flow)
    text_of(program) << introduction_of(trace) << to_text(trace.flows, style_of(program)) << std::flush;
  else if (program.keyboard != nullptr && !flags.all)
    step_through(trace, *program.keyboard, text_of(program), style_of(program));
  else
    text_of(program) << printed(trace, flags, style_of(program)) << std::flush;
}

}  // namespace

void run_study(const StudyFlags& flags, Program& program) {
  check_what(flags);
  check_outputs(flags);
  const Trace trace = trace_for(flags, program.messages);
  write_files(trace, flags, program);
  if (flags.json)
    program.results << to_json(trace) << std::endl;
  else if (flags.dot || (flags.trace_file.empty() && flags.out.empty()))
    show(with_printable_names(trace), flags, program);
}

}  // namespace retrace

#include <retrace/core/inspect.h>
#include <retrace/core/safetensors.h>
#include <retrace/core/trace_file.h>
#include <retrace/core/trace_json.h>
#include <retrace/models/cli/study_flags.h>
#include <retrace/models/cli/terminal.h>
#include <retrace/models/study/page.h>
#include <retrace/models/study/terminal/stepper.h>
#include <retrace/models/study/terminal/trace_text.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <ostream>

namespace retrace {
namespace {

bool is_trace(const std::string& path) {
  return std::filesystem::is_regular_file(path) && read_safetensors(path).metadata.contains("retrace.trace");
}

Trace trace_for(const StudyFlags& flags) {
  const std::vector<std::string_view> names = subject_names();
  const bool is_subject = std::ranges::find(names, flags.subject) != names.end();
  if (!is_subject && std::filesystem::exists(flags.subject)) {
    if (is_trace(flags.subject)) return load_trace(flags.subject);
    StoredStudyOptions options = flags.stored;
    options.expand_fused = !flags.fused;
    return study(load_run(flags.subject), options);
  }
  StudyOptions options = flags.options;
  options.expand_fused = !flags.fused;
  return study(flags.subject, options);
}

ArrayStyle style_of(const Program& program) {
  const char* no_colour = std::getenv("NO_COLOR");
  const bool colour = program.keyboard != nullptr && (no_colour == nullptr || *no_colour == '\0');
  return {.columns = program.keyboard != nullptr ? std::max(40, terminal_columns()) : 80, .colour = colour};
}

}  // namespace

void run_study(const StudyFlags& flags, Program& program) {
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
  else if (program.keyboard != nullptr)
    step_through(trace, *program.keyboard, program.results, style_of(program));
  else
    program.results << to_text(trace, style_of(program)) << std::flush;
}

}  // namespace retrace

#include <retrace/models/cli/commands.h>
#include <retrace/models/tasks/text/text_data.h>

#include <ostream>

namespace retrace {
namespace {

/// Words that follow a prompt are separated from it by a space.
std::string_view gap(TokenKind kind, const std::string& prompt, const std::string& continuation) {
  const bool parted = prompt.empty() || prompt.back() == ' ' || prompt.back() == '\n';
  return kind != TokenKind::words || parted || continuation.empty() || continuation.front() == '\n' ? "" : " ";
}

}  // namespace

void run_generate(const GenerateFlags& flags, Program& program) {
  const StoredRun run = load_run(flags.folder, TaskSamples::none);
  const std::string& prompt = flags.options.prompt;
  const std::string continuation = generate(run, flags.options);
  if (flags.json)
    program.results << to_json({run.spec.name, flags.options, continuation}) << std::endl;
  else
    program.results << prompt << gap(run.task->text_data()->vocabulary.kind(), prompt, continuation) << continuation
                    << std::endl;
}

}  // namespace retrace

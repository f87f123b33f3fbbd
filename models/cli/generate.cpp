#include <retrace/models/cli/commands.h>

#include <filesystem>
#include <ostream>

namespace retrace {
namespace {

/// Words that follow a prompt are separated from it by a space.
std::string_view gap(const TextModel& model, const std::string& prompt, const std::string& continuation) {
  const bool words = model.vocabulary.kind() == TokenKind::words;
  const bool parted = prompt.empty() || prompt.back() == ' ' || prompt.back() == '\n';
  return !words || parted || continuation.empty() || continuation.front() == '\n' ? "" : " ";
}

}  // namespace

void run_generate(const GenerateFlags& flags, Program& program) {
  const std::filesystem::path weights = std::filesystem::path(flags.folder) / "weights.safetensors";
  const TextModel model = load_text_model(text_model_file(flags.folder).value_or(weights.string()));
  const DtypeScope scope(parameters(model.network).front().tensor.dtype());
  const std::string& prompt = flags.options.prompt;
  const std::string continuation = generate(model, flags.options);
  if (flags.json)
    program.results << to_json({model.options.model, flags.options, continuation}) << std::endl;
  else
    program.results << prompt << gap(model, prompt, continuation) << continuation << std::endl;
}

}  // namespace retrace

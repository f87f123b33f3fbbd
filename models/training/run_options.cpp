#include <retrace/models/networks/language_model.h>
#include <retrace/models/tasks/text/text_data.h>
#include <retrace/models/training/run_options.h>

#include <algorithm>

namespace retrace {
namespace {

/// The features of a token: for words, `hidden`; for V characters, no more than V or 64, whichever is larger. V
/// embeddings span at most V dimensions, so wider ones cost time and say nothing more; in less than 64, random ones
/// resemble each other, and are learned more slowly.
std::int64_t embedding_size(std::int64_t hidden, const Vocabulary& vocabulary) {
  constexpr std::int64_t enough = 64;
  return vocabulary.kind() == TokenKind::words ? hidden : std::min(hidden, std::max(vocabulary.size(), enough));
}

}  // namespace

ModelSpec filled_spec(const RunOptions& options, const Task& task) {
  ModelSpec spec = options.model;
  spec.sizes = spec.sizes.or_else(sizes_for(task, recipe_for(options.task, options.model.name)));
  return spec;
}

std::unique_ptr<SequenceModel> make_model_for(const Task& task, const ModelSpec& spec, Random& random) {
  ModelSizes sizes = sizes_of(spec);
  sizes.output = task.output_size();
  sizes.time = task.sequence_length();
  if (const TextData* data = task.text_data()) {
    const Vocabulary& vocabulary = data->vocabulary;
    sizes.input = embedding_size(sizes.hidden, vocabulary);
    const LanguageModelOptions options{vocabulary.size(), spec.name, sizes, vocabulary.kind() == TokenKind::words};
    return std::make_unique<SequenceModelOf<LanguageModel>>(options, random);
  }
  sizes.input = task.input_size();
  sizes.input_rows = task.input_length();
  return make_model(spec.name, sizes, random);
}

std::string train_command(const RunOptions& options) {
  FitOptions fit = options.fit;
  if (fit.steps == no_limit) fit.steps.reset();
  return text("retrace train ", options.task, " --model ", options.model.name,
              as_flags(given_options(task_option_rows(), options.task_options)),
              as_flags(given_options(model_option_rows(), options.model)),
              as_flags(given_options(fit_option_rows(), fit)),
              options.dtype == f32 ? "" : text(" --dtype ", name_of(options.dtype)));
}

}  // namespace retrace

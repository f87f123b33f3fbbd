#include <retrace/models/training/result_json.h>
#include <retrace/models/training/text/text_run.h>

namespace retrace {
namespace {

const Recipe recipe{.batch = 32, .learning_rate = 5e-3, .steps = 2000};

TextModelOptions model_options(const RunOptions& options) {
  const TextModelOptions defaults;
  return {.model = options.model.name,
          .hidden = options.model.sizes.hidden.value_or(defaults.hidden),
          .length = options.task_options.length.value_or(defaults.length)};
}

}  // namespace

TextRun prepare_text(const RunOptions& options) {
  const DtypeScope scope(options.dtype);
  RunOptions filled = options;
  filled.fit = with_recipe(options.fit, recipe);
  Random weights = Random(filled.fit.seed).stream("weights");
  TextData data = read_text(options.text.file, options.text.tokens);
  check_length(data, *filled.fit.batch, model_options(options).length);
  TextModel model(model_options(options), data.vocabulary, weights);
  return {std::move(filled), std::move(data), std::move(model)};
}

void TextRun::train() {
  TextTraining training(model, data, options.fit);
  fit = retrace::fit(training);
}

std::string TextRun::json() const {
  JsonObject object{{"task", options.task},
                    {"model", options.model.name},
                    {"text", options.text.file},
                    {"tokens", name_of(options.text.tokens)},
                    {"vocabulary", data.vocabulary.size()},
                    {"length", model.options.length},
                    {"dtype", name_of(options.dtype)},
                    {"hidden", model.options.hidden}};
  object.add(result_to_json(options.fit, fit, metric(), baselines()));
  object.add("parameters", count_parameters(model.network));
  object.add("weights_hash", weights_hash(model.network));
  return object.text();
}

}  // namespace retrace

#include <retrace/models/formats/json_text.h>
#include <retrace/models/training/result_json.h>
#include <retrace/models/training/text/generate.h>
#include <retrace/models/training/text/text_run.h>

namespace retrace {

std::string to_json(const TextRun& run) {
  const TextRunOptions& options = run.options;
  JsonObject object{{"task", "text"},
                    {"model", options.model.model},
                    {"text", options.file},
                    {"tokens", name_of(options.tokens)},
                    {"vocabulary", run.data.vocabulary.size()},
                    {"length", options.model.length},
                    {"dtype", name_of(options.dtype)},
                    {"hidden", options.model.hidden}};
  object.add(result_to_json(options.fit, run.fit, metric_name(options.tokens), yardsticks_of(run.data)));
  object.add("parameters", count_parameters(run.model.network));
  object.add("weights_hash", weights_hash(run.model.network));
  return object.text();
}

std::string to_json(const Writing& writing) {
  return JsonObject{{"model", writing.model},           {"seed", writing.options.seed},
                    {"length", writing.options.length}, {"temperature", writing.options.temperature},
                    {"prompt", writing.options.prompt}, {"text", writing.continuation}}
      .text();
}

}  // namespace retrace

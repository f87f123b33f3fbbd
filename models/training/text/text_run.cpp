#include <retrace/models/formats/nearest_name.h>
#include <retrace/models/training/text/text_run.h>

namespace retrace {

TextRun prepare(const TextRunOptions& options) {
  const DtypeScope scope(options.dtype);
  Random weights = Random(options.fit.seed).stream("weights");
  TextData data = read_text(options.file, options.tokens);
  check_length(data, options.fit.batch, options.model.length);
  const Vocabulary vocabulary = data.vocabulary;
  return {options, std::move(data), TextModel(options.model, vocabulary, weights), {}};
}

void train(TextRun& run) {
  TextTraining training(run.model, run.data, run.options.fit);
  run.fit = fit(training);
}

}  // namespace retrace

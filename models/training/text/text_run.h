// One training on a text by names and numbers, as `retrace train text` runs it.
#pragma once

#include <string>

#include <retrace/models/training/run.h>
#include <retrace/models/training/text/text_training.h>

namespace retrace {

/// A language model that learns a text.
struct TextRun : Run {
  TextData data;
  TextModel model;

  TextRun(RunOptions given, TextData text, TextModel language_model)
      : Run(std::move(given)), data(std::move(text)), model(std::move(language_model)) {}
  void train() override;
  LearningRateCurve find_learning_rate() override;
  std::string subject() const override { return options.text.file; }
  std::string_view metric() const override { return metric_name(data.vocabulary.kind()); }
  Baselines baselines() const override { return baselines_of(data); }
  bool more_is_better() const override { return false; }
  std::string test_in_words() const override;
  std::vector<NamedTensor> weights() const override { return parameters(model.network); }
  std::int64_t flops_a_sample() const override;
  bool knows_ceiling() const override { return false; }
  ModelDescription description() const override { return describe_text_model(model); }
  void save_weights(const std::string& path) const override { save_text_model(path, model); }
  std::string json() const override;
};

/// Reads the text and makes the model. Throws ValueError for a model that is not known and for a text that is too
/// short, FileError for a file that cannot be read or is not UTF-8. With RunOptions::from, the vocabulary is that of
/// the stored model; throws what load_text_model throws, FileError for a character that the vocabulary lacks, and
/// ValueError for other tokens and for segments of another length than that of learned positions.
TextRun prepare_text(const RunOptions& options);

/// The task "text", with the options that it takes.
RunKind text_run_kind();

}  // namespace retrace

// The task "text": the next token of a file of the user's.
#pragma once

#include <retrace/models/tasks/sample_task.h>
#include <retrace/models/tasks/text/text_data.h>

namespace retrace {

/// The token after each token of a text. Samples are segments of `length` tokens (64 unless given); a training reads
/// them one after the other, in streams (streams.h). Characters are the tokens unless words are asked for.
///
/// Baselines are measured on the test part. chance: an even guess. trivial: the frequencies of the tokens in the
/// training part (plus one each, so that none is 0). The best possible result is unknown.
class TextTask final : public SampleTask {
 public:
  static constexpr std::string_view option_names = "length, text, validation-text, test-text, tokens";
  /// Reads the files. Throws what read_text throws, and ValueError for a length below 1.
  static std::unique_ptr<Task> make(const TaskOptions& options);
  /// The same with the vocabulary and the length of an earlier training's format. Throws ValueError for other tokens.
  static std::unique_ptr<Task> make_again(const TaskOptions& options, const SampleFormat& format);

  TextTask(TextData data, std::int64_t length);
  Metric metric() const override;
  const TextData* text_data() const override { return &data_; }
  const SampleFormat* format() const override { return &format_; }
  Baselines baselines() const override;
  std::string fingerprint() const override;
  /// A token, or its name if it cannot be seen: "\\n", "' '".
  std::string describe_label(std::int64_t label) const override;
  std::string describe_row(const Example& example, std::int64_t t) const override;
  /// The tokens in one line.
  std::string describe(const Example& example) const override;

 private:
  /// Random segments of the training part.
  void fill(Random& random, const Batch& batch) const override;

  TextData data_;
};

}  // namespace retrace

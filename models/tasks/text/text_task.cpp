#include <retrace/core/base/error.h>
#include <retrace/models/tasks/text/text_task.h>

#include <algorithm>
#include <cmath>

namespace retrace {
namespace {

constexpr std::int64_t length_unless_given = 64;

SampleFormat format_of(const TextData& data, std::int64_t length) {
  if (length < 1) throw ValueError(text("text: segments of ", length, " tokens were asked for; ask for 1 or more"));
  return {.steps = length,
          .words = data.vocabulary.tokens(),
          .outputs = data.vocabulary.size(),
          .answers_each_row = true,
          .tokens = data.vocabulary.kind(),
          .test_fingerprint = data.test().empty() ? "" : retrace::fingerprint(data.test())};
}

}  // namespace

std::unique_ptr<Task> TextTask::make(const TaskOptions& options) {
  return std::make_unique<TextTask>(read_text(options), options.length.value_or(length_unless_given));
}

std::unique_ptr<Task> TextTask::make_again(const TaskOptions& options, const SampleFormat& format) {
  if (options.tokens.value_or(*format.tokens) != *format.tokens)
    throw ValueError(text("text: the stored model reads ", name_of(*format.tokens), "; leave --tokens out"));
  return std::make_unique<TextTask>(read_text(options, Vocabulary(*format.tokens, format.words)),
                                    options.length.value_or(format.steps));
}

TextTask::TextTask(TextData data, std::int64_t length)
    : SampleTask("text", TaskKind::classification, format_of(data, length)), data_(std::move(data)) {}

Metric TextTask::metric() const {
  return data_.vocabulary.kind() == TokenKind::words ? Metric::perplexity : Metric::bits_per_character;
}

Baselines TextTask::baselines() const {
  const auto size = static_cast<double>(data_.vocabulary.size());
  Baselines result{.chance = metric_of(metric(), std::log(size)), .ceiling = {}};
  const TokenIds training = data_.training(), test = data_.test();
  if (training.empty()) return result;
  std::vector<double> counts(data_.vocabulary.tokens().size(), 1);
  for (const std::int32_t id : training) ++counts[static_cast<std::size_t>(id)];
  const double total = static_cast<double>(training.size()) + size;
  double loss = 0;
  for (const std::int32_t id : test)
    loss -= std::log(counts[static_cast<std::size_t>(id)] / total) / static_cast<double>(test.size());
  result.trivial = metric_of(metric(), loss);
  result.trivial_answer = "unigram frequencies";
  return result;
}

std::string TextTask::fingerprint() const {
  std::string parts = text(retrace::fingerprint(data_.ids), " of ", data_.ids.size(), " ",
                           name_of(data_.vocabulary.kind()), ", length ", sequence_length());
  if (data_.own_validation) parts += text(", validated on text ", retrace::fingerprint(*data_.own_validation));
  if (data_.own_test) parts += text(", tested on text ", retrace::fingerprint(*data_.own_test));
  return parts;
}

std::string TextTask::describe_label(std::int64_t label) const {
  const std::string token = SampleTask::describe_label(label);
  return token == "\n" ? "\\n" : token == " " ? "' '" : token;
}

std::string TextTask::describe_row(const Example& example, std::int64_t t) const {
  return describe_label(static_cast<std::int64_t>(example.row(t).front()));
}

std::string TextTask::describe(const Example& example) const {
  std::string line;
  for (std::int64_t t = 0; t < example.length(); ++t) line += text(t == 0 ? "" : " ", describe_row(example, t));
  return line;
}

void TextTask::fill(Random& random, const Batch& batch) const {
  const TokenIds ids = data_.training();
  const std::int64_t time = batch.x.dim(1), starts = std::ssize(ids) - time;
  if (starts < 1)
    throw ValueError(text("text: the ", ids.size(), " tokens to train on fill no segment of ", time,
                          "; give a longer text, or a smaller --length"));
  std::int64_t* x = batch.x.mutable_values<std::int64_t>().data();
  std::int64_t* y = batch.y.mutable_values<std::int64_t>().data();
  for (std::int64_t row = 0; row < batch.size(); ++row) {
    const auto segment = ids.subspan(static_cast<std::size_t>(random.integer(starts)));
    std::copy_n(segment.begin(), time, x + row * time);
    std::copy_n(segment.begin() + 1, time, y + row * time);
  }
}

}  // namespace retrace

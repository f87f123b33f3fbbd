#include <retrace/core/tape/tape.h>
#include <retrace/models/training/text/text_training.h>
#include <retrace/ops/ops.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace retrace {
namespace {

constexpr std::int64_t ids_of_a_test_row = 1024;
constexpr std::int64_t max_test_rows = 64;

/// Calls see(segment, logits) for each segment of the streams, in evaluation, and before() before each.
template <class See>
void read(const TextModel& model, const Streams& streams, See&& see, const std::function<void()>& before = {}) {
  const NoTape unrecorded;
  SequenceState state;
  for (std::int64_t number = 0; number < streams.segments(); ++number) {
    if (before) before();
    const Streams::Segment segment = streams.segment(number);
    LanguageResult result = model.network(segment.in, state);
    if (model.carries_state()) state = std::move(result.state);
    see(segment, result.logits);
  }
}

}  // namespace

void check_length(const TextData& data, std::int64_t rows, std::int64_t length) {
  const auto count = static_cast<std::int64_t>(data.training().size());
  for (const auto& [own, part] : {std::pair(data.own_validation, "validation"), std::pair(data.own_test, "test")})
    if (own && own->size() < 2)
      throw ValueError(text("train text: the text for the ", part, " has ", own->size(), " ",
                            name_of(data.vocabulary.kind()), "; at least 2 are needed"));
  if (rows < 1 || length < 1 || data.test().size() < 2 || count / rows < length || count < rows * length + 1)
    throw ValueError(text("train text: ", data.ids.size(), " ", name_of(data.vocabulary.kind()), ", of which ", count,
                          " are to train on, are too few for a batch of ", rows, " segments of ", length,
                          "; give a longer text, or a smaller --batch or --length"));
}

double metric_of(TokenKind kind, double loss) {
  return kind == TokenKind::words ? std::exp(loss) : loss / std::numbers::ln2;
}

std::int64_t streams_of_test(TokenIds ids) {
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(ids.size()) / ids_of_a_test_row, 1, max_test_rows);
}

std::vector<double> token_losses(const TextModel& model, TokenIds ids, std::int64_t rows) {
  const Streams streams(ids, rows, model.options.length);
  std::vector<std::vector<double>> of_rows(static_cast<std::size_t>(rows));
  read(model, streams, [&](const Streams::Segment& segment, const Tensor& logits) {
    const Tensor each =
        cross_entropy(logits, segment.next, {.reduction = Reduction::none, .ignore_index = no_token}).to(f64);
    const auto losses = each.values<double>();
    const auto next = segment.next.values<std::int64_t>();
    const std::size_t time = losses.size() / of_rows.size();
    for (std::size_t k = 0; k < losses.size(); ++k)
      if (next[k] != no_token) of_rows[k / time].push_back(losses[k]);
  });
  std::vector<double> together;
  for (const std::vector<double>& row : of_rows) together.insert(together.end(), row.begin(), row.end());
  return together;
}

Evaluation evaluate(const TextModel& model, TokenIds ids, const std::function<void()>& before_segment) {
  const Streams streams(ids, streams_of_test(ids), model.options.length);
  double total = 0;
  const auto add = [&](const Streams::Segment& segment, const Tensor& logits) {
    total += cross_entropy(logits, segment.next, {.reduction = Reduction::sum, .ignore_index = no_token}).item();
  };
  read(model, streams, add, before_segment);
  const double loss = total / static_cast<double>(ids.size() - 1);
  return {.loss = loss, .metric = metric_of(model.vocabulary.kind(), loss)};
}

Baselines baselines_of(const TextData& data) {
  const TokenKind kind = data.vocabulary.kind();
  const auto size = static_cast<double>(data.vocabulary.size());
  std::vector<double> counts(data.vocabulary.tokens().size(), 1);
  for (const std::int32_t id : data.training()) ++counts[static_cast<std::size_t>(id)];
  const double total = static_cast<double>(data.training().size()) + size;
  double loss = 0;
  for (const std::int32_t id : data.test())
    loss -= std::log(counts[static_cast<std::size_t>(id)] / total) / static_cast<double>(data.test().size());
  return {.chance = metric_of(kind, std::log(size)),
          .trivial = metric_of(kind, loss),
          .trivial_answer = "unigram frequencies",
          .ceiling = 0};
}

TextTraining::TextTraining(const TextModel& model, const TextData& data, const FitOptions& options)
    : Training(parameters(model.network), options),
      model_(model),
      data_(data),
      streams_((check_length(data, *this->options().batch, model.options.length), data.training()),
               *this->options().batch, model.options.length),
      dropout_(Random(this->options().seed).stream("dropout")) {
  if (options.measures.loss || options.measures.metric)
    throw ValueError("fit: a loss or a metric of your own is for tasks, not for text; leave the measures out");
  if (!model.carries_state()) return;
  // Tensors for a checkpoint to be copied into.
  const DtypeScope scope(weights().front().tensor.dtype());
  carried_ = model.network(streams_.segment(0).in).state.detach();
}

std::string TextTraining::description() const {
  std::string parts;
  if (data_.own_validation) parts += text(", validated on text ", fingerprint(*data_.own_validation));
  if (data_.own_test) parts += text(", tested on text ", fingerprint(*data_.own_test));
  return text("text ", fingerprint(data_.ids), " of ", data_.ids.size(), " ", name_of(data_.vocabulary.kind()), parts,
              ", ", model_.options.model, ", ", in_words(given_options(model_option_rows(), model_.options.spec())),
              ", length ", model_.options.length, ", seed ", options().seed);
}

Evaluation TextTraining::validate() const {
  const TokenIds ids = data_.validation();
  const auto limit = static_cast<std::size_t>(options().validation_samples * model_.options.length + 1);
  return evaluate(model_, ids.first(std::min(ids.size(), limit)));
}

std::vector<NamedTensor> TextTraining::state() const {
  std::vector<NamedTensor> result = Training::state();
  for (std::size_t k = 0; k < carried_.parts.size(); ++k) result.push_back({text("carried.", k), carried_.parts[k]});
  return result;
}

Tensor TextTraining::loss_of(std::int64_t batch) {
  const std::int64_t number = batch % streams_.segments();
  const Streams::Segment segment = streams_.segment(number);
  Random dropout = dropout_.stream(static_cast<std::uint64_t>(batch));
  const LanguageResult result = model_.network(segment.in, number == 0 ? SequenceState() : carried_, &dropout);
  if (model_.carries_state()) carried_ = result.state.detach();
  return cross_entropy(result.logits, segment.next, {.ignore_index = no_token});
}

}  // namespace retrace

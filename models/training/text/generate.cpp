#include <retrace/core/tape/tape.h>
#include <retrace/models/data/file_text.h>
#include <retrace/models/formats/json_text.h>
#include <retrace/models/tasks/text/text_data.h>
#include <retrace/models/training/text/generate.h>
#include <retrace/ops/ops.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace retrace {
namespace {

/// A model that reads one token after the other.
class Reader {
 public:
  Reader(const SequenceModel& model, std::int64_t length) : model_(model), length_(length) {}

  /// The logits of the token after this one, in f64.
  Tensor read(std::int32_t id) {
    const bool full = !model_.carries_state() && std::ssize(seen_) == length_;
    if (!full) return step(id);
    const std::vector<std::int32_t> kept(seen_.end() - static_cast<std::ptrdiff_t>(seen_.size() / 2), seen_.end());
    seen_.clear();
    state_ = {};
    for (const std::int32_t earlier : kept) step(earlier);
    return step(id);
  }

 private:
  Tensor step(std::int32_t id) {
    seen_.push_back(id);
    auto [logits, state] = model_.continued(full({1, 1}, id, i64), state_);
    state_ = std::move(state);
    return logits.to(f64);
  }

  const SequenceModel& model_;
  std::int64_t length_;  // of a segment, and attention's limit
  SequenceState state_;
  std::vector<std::int32_t> seen_;
};

std::int32_t draw(const Tensor& logits, std::optional<std::int32_t> never, double temperature, Random& random) {
  const auto values = logits.values<double>();
  std::vector<double> weights(values.begin(), values.end());
  if (never) weights[static_cast<std::size_t>(*never)] = -std::numeric_limits<double>::infinity();
  const auto best = std::max_element(weights.begin(), weights.end());
  const double highest = *best;
  if (temperature == 0) return static_cast<std::int32_t>(best - weights.begin());
  double total = 0;
  for (double& weight : weights) total += weight = std::exp((weight - highest) / temperature);
  double left = random.uniform() * total;
  auto chosen = static_cast<std::size_t>(best - weights.begin());
  for (std::size_t id = 0; id < weights.size() && left >= 0; ++id) {
    if (!(weights[id] > 0)) continue;
    chosen = id;
    left -= weights[id];
  }
  return static_cast<std::int32_t>(chosen);
}

void check(const GenerateOptions& options) {
  if (options.length < 0) throw ValueError(text("generate: length is ", options.length, "; it is 0 tokens or more"));
  if (!(options.temperature >= 0 && std::isfinite(options.temperature)))
    throw ValueError(text("generate: temperature is ", options.temperature, "; it is a number of 0 or more"));
  check_utf8(options.prompt, "generate: the prompt");
}

const TextData& text_of(const StoredRun& run) {
  if (const TextData* data = run.task->text_data()) return *data;
  throw ValueError(text("generate: the model of ", run.path, " was trained on the task '", run.task_name,
                        "', not on a text; make one by: retrace train text --out DIR"));
}

}  // namespace

std::string generate(const StoredRun& run, const GenerateOptions& options) {
  check(options);
  const NoTape unrecorded;
  const Vocabulary& vocabulary = text_of(run).vocabulary;
  const DtypeScope scope(parameters(*run.model).front().tensor.dtype());
  const std::optional<std::int32_t> never =
      vocabulary.kind() == TokenKind::words ? vocabulary.find(unknown_word) : std::nullopt;
  std::vector<std::int32_t> prompt = vocabulary.encode(options.prompt), ids;
  if (prompt.empty()) prompt.push_back(vocabulary.find("\n").value_or(0));
  Random random = Random(options.seed).stream("generate");
  Reader reader(*run.model, run.task->sequence_length());
  Tensor logits;
  for (const std::int32_t id : prompt) logits = reader.read(id);
  for (std::int64_t k = 0; k < options.length; ++k) {
    ids.push_back(draw(logits, never, options.temperature, random));
    logits = reader.read(ids.back());
  }
  return vocabulary.decode(ids);
}

std::string to_json(const Generation& generation) {
  return JsonObject{{"model", generation.model},           {"seed", generation.options.seed},
                    {"length", generation.options.length}, {"temperature", generation.options.temperature},
                    {"prompt", generation.options.prompt}, {"text", generation.continuation}}
      .text();
}

}  // namespace retrace

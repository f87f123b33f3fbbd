#include <retrace/core/tape/tape.h>
#include <retrace/models/reports/evaluation/attention_heads.h>
#include <retrace/models/reports/evaluation/information.h>
#include <retrace/models/training/evaluate.h>
#include <retrace/ops/ops.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <span>
#include <utility>

namespace retrace {
namespace {

/// Masks add -inf to a score or, in older programs, a large negative number.
constexpr double largest_masked_score = -1e4;

std::vector<double> numbers_of(const Capture& capture, std::int64_t count) {
  if (!capture.exists()) return std::vector<double>(static_cast<std::size_t>(count));
  const Tensor wide = capture.values.to(f64);
  const auto values = wide.values<double>();
  return {values.begin(), values.end()};
}

bool is_along_last_axis(const TraceRecord& record, int rank) {
  for (const Attribute& attribute : record.attributes)
    if (const auto* axis = std::get_if<std::int64_t>(&attribute.value); axis != nullptr && attribute.name == "axis")
      return *axis == -1 || *axis == rank - 1;
  return true;
}

class Finder {
 public:
  explicit Finder(const Trace& trace) : trace_(trace), readers_(trace.nodes.size()) {
    for (std::size_t record = 0; record < trace.records.size(); ++record)
      for (const int input : trace.records[record].inputs) readers_[static_cast<std::size_t>(input)].push_back(record);
  }

  std::vector<AttentionHead> find() {
    for (const TraceRecord& record : trace_.records)
      if (is_attention(record)) add(record);
    name_layers();
    return std::move(heads_);
  }

 private:
  const TraceNode& node(int number) const { return trace_.nodes[static_cast<std::size_t>(number)]; }

  /// Whether a matmul takes it as its first factor.
  bool mixes_values(int weights) const {
    return std::ranges::any_of(readers_[static_cast<std::size_t>(weights)], [&](std::size_t reader) {
      const TraceRecord& record = trace_.records[reader];
      if (record.op == "dropout") return mixes_values(record.outputs.front());
      return record.op == "matmul" && record.inputs.front() == weights;
    });
  }

  bool is_attention(const TraceRecord& record) const {
    if (record.op != "softmax") return false;
    const TraceNode& weights = node(record.outputs.front());
    return weights.shape.rank() >= 2 && weights.value.is_complete() &&
           is_along_last_axis(record, weights.shape.rank()) && mixes_values(record.outputs.front());
  }

  void add(const TraceRecord& record) {
    const TraceNode& node_of_weights = node(record.outputs.front());
    const std::int64_t all = node_of_weights.shape.numel();
    const std::vector<double> weights = numbers_of(node_of_weights.value, all);
    const std::vector<double> gradients = numbers_of(node_of_weights.gradient, all);
    const std::vector<double> scores = numbers_of(node(record.inputs.front()).value, all);
    const std::int64_t rows = node_of_weights.shape[-2], columns = node_of_weights.shape[-1], size = rows * columns;
    const std::int64_t place = places_[{record.scope, record.path}]++;
    const std::int64_t step = steps_[{record.path, place}]++;
    for (std::int64_t head = 0; size > 0 && head < all / size; ++head) {
      const auto part = [&](const std::vector<double>& numbers) {
        return std::vector<double>(numbers.begin() + head * size, numbers.begin() + (head + 1) * size);
      };
      AttentionHead& result = heads_.emplace_back(AttentionHead{.layer = record.path,
                                                                .step = step,
                                                                .head = head,
                                                                .rows = rows,
                                                                .columns = columns,
                                                                .weights = part(weights),
                                                                .gradients = part(gradients),
                                                                .masked = {}});
      const std::vector<double> of_head = part(scores);
      for (std::size_t k = 0; k < of_head.size(); ++k)
        result.masked.push_back(result.weights[k] == 0 && of_head[k] <= largest_masked_score);
      place_of_heads_.push_back(place);
    }
  }

  /// The first attention of a module has its path for a name, the others a number after it.
  void name_layers() {
    for (std::size_t k = 0; k < heads_.size(); ++k) {
      if (heads_[k].layer.empty()) heads_[k].layer = "attention";
      if (place_of_heads_[k] > 0) heads_[k].layer += text(" ", place_of_heads_[k] + 1);
    }
  }

  const Trace& trace_;
  std::vector<std::vector<std::size_t>> readers_;               // of each node
  std::map<std::pair<int, std::string>, std::int64_t> places_;  // attentions so far in a call of a module
  std::map<std::pair<std::string, std::int64_t>, std::int64_t> steps_;
  std::vector<AttentionHead> heads_;
  std::vector<std::int64_t> place_of_heads_;
};

}  // namespace

std::vector<HeadSummary> summarise(const std::vector<AttentionHead>& heads) {
  std::vector<HeadSummary> summaries;
  std::vector<double> rows;  // of each summary
  for (const AttentionHead& head : heads) {
    std::size_t place = 0;
    while (place < summaries.size() && (summaries[place].layer != head.layer || summaries[place].head != head.head))
      ++place;
    if (place == summaries.size()) summaries.push_back({head.layer, head.head, 0, 0}), rows.push_back(0);
    const auto columns = static_cast<std::size_t>(head.columns);
    for (std::size_t begin = 0; begin < head.weights.size(); begin += columns)
      summaries[place].columns_seen += effective_number(std::span(head.weights).subspan(begin, columns));
    rows[place] += static_cast<double>(head.rows);
    for (const double gradient : head.gradients)
      summaries[place].gradient_norm = std::hypot(summaries[place].gradient_norm, gradient);
  }
  for (std::size_t place = 0; place < summaries.size(); ++place) summaries[place].columns_seen /= rows[place];
  return summaries;
}

std::vector<AttentionHead> attention_heads(const Trace& trace) { return Finder(trace).find(); }

std::vector<AttentionHead> attention_heads(const SequenceModel& model, const Task& task, const Batch& sample) {
  Tape tape({.keep = true, .expand_fused = true});
  const Tensor loss = task_loss(task, answer(model, task, sample.x), sample.y);
  const std::vector<NamedTensor> weights = parameters(model);
  std::vector<AttentionHead> heads = attention_heads(
      trace_backward(tape, loss, {.names = model.names(), .max_elements = std::numeric_limits<std::int64_t>::max()}));
  for (const NamedTensor& weight : weights) weight.tensor.zero_grad();
  return heads;
}

}  // namespace retrace

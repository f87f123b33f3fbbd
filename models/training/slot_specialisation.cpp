#include <retrace/models/training/slot_specialisation.h>
#include <retrace/ops/ops.h>

#include <algorithm>
#include <vector>

namespace retrace {
namespace {

/// How the slots share the change at each row: [B T, N].
Tensor shares_of_change(const MemoryTrace& trace) {
  constexpr double least = 1e-12;  // a memory that does not change at all is shared evenly
  Tensors changes;
  for (std::int64_t t = 0; t < trace.steps(); ++t) {
    const auto now = static_cast<std::size_t>(t);
    changes.push_back(sum(square(trace.memory[now + 1] - trace.memory[now]), -1) + least);
  }
  const Tensor all_changes = stack(changes, 1);
  const std::int64_t slots = trace.slots();
  return reshape(all_changes / sum(all_changes, -1, {.keepdims = true}), {all_changes.numel() / slots, slots});
}

/// -sum p log p over the last axis.
Tensor entropy(const Tensor& p) {
  constexpr double least = 1e-12;
  return -sum(p * log(p + least), -1);
}

/// [topics, rows]: 1 where the row has the topic; and how many rows each has.
struct RowsOfTopics {
  Tensor members;
  std::vector<double> counts;
};

RowsOfTopics rows_of_topics(const Tensor& topics, Dtype dtype) {
  const auto of_row = topics.values<std::int64_t>();
  const std::int64_t last = *std::ranges::max_element(of_row);
  RowsOfTopics result{zeros({last + 1, topics.numel()}, f64), std::vector<double>(static_cast<std::size_t>(last + 1))};
  const std::span<double> members = result.members.mutable_values<double>();
  for (std::size_t row = 0; row < of_row.size(); ++row)
    if (of_row[row] >= 0) {
      const auto topic = static_cast<std::size_t>(of_row[row]);
      members[topic * of_row.size() + row] = 1;
      ++result.counts[topic];
    }
  result.members = result.members.to(dtype);
  return result;
}

}  // namespace

Tensor topics_of(const Task& task, const Batch& batch) {
  Tensor topics = full({batch.x.dim(0), batch.x.dim(1)}, -1, i64);
  std::int64_t* topic = topics.mutable_values<std::int64_t>().data();
  for (std::int64_t sample = 0; sample < batch.x.dim(0); ++sample, topic += batch.x.dim(1)) {
    const Example example(batch, sample);
    for (std::int64_t t = 0; t < example.length(); ++t) topic[t] = task.topic(example, t);
  }
  return topics;
}

Tensor topic_information(const MemoryTrace& trace, const Tensor& topics) {
  const Shape expected{trace.memory.front().dim(0), trace.steps()};
  if (topics.shape() != expected)
    throw ShapeError(
        text("topic_information: topics ", topics, " must have the trace's shape [batch, time], ", expected));
  const Tensor shares = shares_of_change(trace);
  const auto [members, counts] = rows_of_topics(topics, shares.dtype());
  double all_rows = 0;
  for (const double count : counts) all_rows += count;
  Tensor information = zeros({}, shares.dtype());
  if (all_rows == 0) return information;
  const Tensor sums = matmul(members, shares);  // [topics, N]
  information = entropy(sum(sums, 0) / all_rows);
  for (std::size_t topic = 0; topic < counts.size(); ++topic)
    if (counts[topic] > 0)
      information = information -
                    counts[topic] / all_rows * entropy(slice(sums, {static_cast<std::int64_t>(topic)}) / counts[topic]);
  return information;
}

}  // namespace retrace

#include <retrace/core/base/error.h>
#include <retrace/models/reports/evaluation/information.h>
#include <retrace/models/reports/evaluation/memory_use.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace retrace {
namespace {

std::size_t index(std::int64_t position) { return static_cast<std::size_t>(position); }

/// Collects the statistics in one pass over a trace and its samples.
class MemoryReader {
 public:
  MemoryReader(const Task& task, const Batch& batch, const MemoryTrace& trace)
      : task_(task), trace_(trace), heads_mean_(index(trace.steps())), change_(index(trace.steps())) {
    use_.samples = batch.x.dim(0);
    use_.steps = trace.steps();
    use_.slots = trace.slots();
    use_.columns = trace.weights.front().dim(3);
    use_.of_slots.resize(index(use_.slots));
    for (std::int64_t t = 0; t < use_.steps; ++t) {
      const auto now = index(t);
      heads_mean_[now] = mean(trace.weights[now].to(f64), 1);  // [B, N, K]
      const Tensor before = trace.memory[now].to(f64), after = trace.memory[now + 1].to(f64);
      change_[now] = argmax(norm(after - before, -1));  // [B]
    }
    for (std::int64_t sample = 0; sample < use_.samples; ++sample) examples_.emplace_back(batch, sample);
  }

  MemoryUse read() {
    read_norms();
    read_attention();
    read_changes();
    read_around();
    read_gates();
    return std::move(use_);
  }

 private:
  std::int64_t changed(std::int64_t t, std::int64_t sample) const {
    return change_[index(t)].values<std::int64_t>()[index(sample)];
  }

  void read_norms() {
    const Tensors after(trace_.memory.begin() + 1, trace_.memory.end());
    const Tensor memory = stack(after, 1).to(f64);                            // [B, T, N, S]
    const Tensor norms = norm(memory, -1), deviations = sqrt(var(norms, 1));  // [B, T, N], [B, N]
    const Tensor flat = reshape(memory, {use_.samples * use_.steps, use_.slots, memory.dim(3)});
    const Tensor variances = mean(var(flat, 0), -1);
    for (std::int64_t slot = 0; slot < use_.slots; ++slot) {
      SlotUse& use = use_.of_slots[index(slot)];
      use.norm = mean(slice(norms, {all, all, slot})).item();
      use.norm_over_time = mean(slice(deviations, {all, slot})).item();
      use.variance = variances.at({slot});
    }
  }

  void read_attention() {
    std::vector<double> received(index(use_.columns));
    for (const Tensor& weights : heads_mean_) {
      const Tensor to_columns = mean(mean(weights, 0), 0);
      const auto values = to_columns.values<double>();
      use_.attention_over_time.emplace_back(values.begin(), values.end());
      for (std::size_t column = 0; column < received.size(); ++column)
        received[column] += values[column] / static_cast<double>(use_.steps);
    }
    use_.attention_entropy = mean_entropy();
    for (std::size_t slot = 0; slot < use_.of_slots.size(); ++slot) use_.of_slots[slot].attention = received[slot];
    if (use_.columns > use_.slots) use_.input_attention = received.back();
    received.resize(index(use_.slots));
    use_.effective_slots = effective_number(received);
  }

  /// The entropy of the rows of all heads.
  double mean_entropy() const {
    double sum = 0, rows = 0;
    for (const Tensor& weights : trace_.weights) {
      const Tensor wide = weights.to(f64);
      const auto values = wide.values<double>();
      for (std::size_t first = 0; first < values.size(); first += index(use_.columns), ++rows)
        sum += entropy(values.subspan(first, index(use_.columns)));
    }
    return sum / rows;
  }

  void read_changes() {
    Counts by_time;
    std::map<std::int64_t, std::vector<double>> by_topic;
    std::vector<double> counts(index(use_.slots));
    for (std::int64_t t = 0; t < use_.steps; ++t) {
      std::vector<double>& now = by_time.emplace_back(index(use_.slots));
      for (std::int64_t sample = 0; sample < use_.samples; ++sample) {
        const auto slot = index(changed(t, sample));
        ++now[slot], ++counts[slot];
        const std::int64_t topic = task_.topic(examples_[index(sample)], t);
        if (topic >= 0) ++by_topic.try_emplace(topic, index(use_.slots)).first->second[slot];
      }
    }
    use_.specialisation = {.slot_entropy = entropy(counts), .by_time = mutual_information(by_time), .by_topic = {}};
    if (!by_topic.empty()) {
      Counts topics;
      for (const auto& [topic, of_topic] : by_topic) topics.push_back(of_topic);
      use_.specialisation.by_topic = mutual_information(topics);
    }
    use_.effective_written = effective_number(counts);
    const auto all_steps = static_cast<double>(use_.samples * use_.steps);
    for (std::size_t slot = 0; slot < counts.size(); ++slot) use_.of_slots[slot].written = counts[slot] / all_steps;
    for (std::vector<double>& now : by_time)
      for (double& count : now) count /= static_cast<double>(use_.samples);
    use_.written_over_time = std::move(by_time);
  }

  /// The attention of all slots of a sample to a column at a step, on average.
  double given(std::int64_t t, std::int64_t sample, std::int64_t column) const {
    const auto values = heads_mean_[index(t)].values<double>();
    double sum = 0;
    for (std::int64_t slot = 0; slot < use_.slots; ++slot)
      sum += values[index((sample * use_.slots + slot) * use_.columns + column)];
    return sum / static_cast<double>(use_.slots);
  }

  void read_around() {
    struct Mean {
      double sum = 0, count = 0;
      void add(double value) { sum += value, ++count; }
      double value() const { return count > 0 ? sum / count : 0; }
    };
    Mean before, now, after, slot_after;
    AroundTheRow around;
    for (std::int64_t sample = 0; sample < use_.samples; ++sample) {
      const std::optional<std::int64_t> row = task_.row_to_remember(examples_[index(sample)]);
      if (!row) continue;
      ++around.samples;
      for (std::int64_t t = 0; t < use_.steps; ++t) {
        if (use_.columns > use_.slots)
          (t < *row ? before : t == *row ? now : after).add(given(t, sample, use_.columns - 1));
        if (t > *row) slot_after.add(given(t, sample, changed(*row, sample)));
      }
    }
    around.to_input_before = before.value(), around.to_input_at = now.value(), around.to_input_after = after.value();
    around.to_slot_after = slot_after.value();
    if (around.samples > 0) use_.around = around;
  }

  void read_gates() {
    for (const MemoryTrace::Gate& gate : trace_.gates) {
      const Tensor of_slots = mean(mean(mean(stack(gate.values).to(f64), 0), 0), -1);
      const auto values = of_slots.values<double>();
      use_.gates.push_back(
          {std::string(gate.name), mean(of_slots).item(), std::vector<double>(values.begin(), values.end())});
    }
  }

  const Task& task_;
  const MemoryTrace& trace_;
  Tensors heads_mean_;
  Tensors change_;  // which slot changes most at each step
  std::vector<Example> examples_;
  MemoryUse use_;
};

}  // namespace

MemoryUse memory_use(const Task& task, const Batch& batch, const MemoryTrace& trace) {
  if (trace.steps() != batch.x.dim(1) || trace.memory.front().dim(0) != batch.x.dim(0))
    throw ShapeError(text("memory_use: a trace of ", trace.memory.front().dim(0), " samples and ", trace.steps(),
                          " steps is not of the batch ", batch.x.shape(), "; trace the model over that batch"));
  const NoTape unrecorded;
  return MemoryReader(task, batch, trace).read();
}

}  // namespace retrace

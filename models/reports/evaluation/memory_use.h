// The use of memory slots over many samples: which slots, for which rows, and when.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <retrace/models/networks/memory_trace.h>
#include <retrace/models/tasks/task.h>

namespace retrace {

/// Means over samples and steps; attention also over heads and over the slots that attend.
struct SlotUse {
  double norm = 0;            // of the slot after a step
  double norm_over_time = 0;  // the deviation of that norm over the steps of a sample
  double variance = 0;        // of the slot's elements over steps and samples, averaged over the elements
  double attention = 0;       // that the slot receives
  double written = 0;         // the fraction of the steps at which no slot changes more
};

struct GateUse {
  std::string name;
  double mean = 0;  // 0 shut, 1 open
  std::vector<double> of_slots;
};

/// The information that a step and its row give about the slot that changes most, in bits.
struct Specialisation {
  double slot_entropy = 0;         // of that slot: the maximum of the next two
  double by_time = 0;              // given by the number of the step
  std::optional<double> by_topic;  // given by the topic of the row, over the rows with a topic, if there are any
};

/// Attention around the row to remember: the share given to the input before, at and after that row, and afterwards to
/// the slot that changed most at it (an even share is 1 / columns). 0 if there is no such step.
struct AroundTheRow {
  double to_input_before = 0, to_input_at = 0, to_input_after = 0;
  double to_slot_after = 0;
  std::int64_t samples = 0;
};

struct MemoryUse {
  std::int64_t samples = 0, steps = 0, slots = 0, columns = 0;  // columns: slots, and the input if it is attended to
  std::vector<SlotUse> of_slots;
  double input_attention = 0;    // that the input receives; 0 if it is not attended to
  double attention_entropy = 0;  // of the attention of a slot, in bits, on average; at most log2(columns)
  double effective_slots = 0;    // 2^entropy of the mean attention that the slots receive
  double effective_written = 0;  // 2^entropy of the slots that change most
  Specialisation specialisation;
  std::optional<AroundTheRow> around;  // if the task has such rows
  std::vector<GateUse> gates;
  std::vector<std::vector<double>> attention_over_time;  // [T][columns]: received
  std::vector<std::vector<double>> written_over_time;    // [T][slots]: how often it changes most
};

/// Statistics of the model's trace over the samples of a batch. Throws ShapeError for a trace of another batch.
MemoryUse memory_use(const Task& task, const Batch& batch, const MemoryTrace& trace);

}  // namespace retrace

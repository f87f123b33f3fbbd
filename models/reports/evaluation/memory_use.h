// What a memory of slots does over many samples: which slots are used, for what, and when.
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
  double attention = 0;       // that it receives
  double written = 0;         // the part of the steps at which no slot changes more
};

struct GateUse {
  std::string name;
  double mean = 0;  // 0 shut, 1 open
  std::vector<double> of_slots;
};

/// How much what a step reads tells of the slot that changes most, in bits.
struct Specialisation {
  double slot_entropy = 0;         // of that slot: all that there is to tell
  double by_time = 0;              // told by the number of the step
  std::optional<double> by_topic;  // told by the row's topic, where the task has topics: over steps that have one
};

/// Around the row that has to be remembered: the parts of the attention that go to the input before that row, at it and
/// after it, and what after it goes to the slot that changed most at it (an even share is 1 / columns). Nothing is 0.
struct AroundTheRow {
  double to_input_before = 0, to_input_at = 0, to_input_after = 0;
  double to_slot_after = 0;
  std::int64_t samples = 0;
};

struct MemoryUse {
  std::int64_t samples = 0, steps = 0, slots = 0, columns = 0;  // columns: slots, and the input where it is attended to
  std::vector<SlotUse> of_slots;
  double input_attention = 0;    // that the input receives; 0 where it is not attended to
  double attention_entropy = 0;  // of what a slot gives, in bits, on the average; at most log2(columns)
  double effective_slots = 0;    // 2^entropy of the mean attention that the slots receive
  double effective_written = 0;  // the same of the slots that change most
  Specialisation specialisation;
  std::optional<AroundTheRow> around;  // where the task has such rows
  std::vector<GateUse> gates;
  std::vector<std::vector<double>> attention_over_time;  // [T][columns]: received
  std::vector<std::vector<double>> written_over_time;    // [T][slots]: how often it changes most
};

/// Of the model's trace over the samples of a batch. Throws ShapeError for a trace of another batch.
MemoryUse memory_use(const Task& task, const Batch& batch, const MemoryTrace& trace);

}  // namespace retrace

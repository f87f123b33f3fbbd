// The attention of the slots of a memory while one sample is read (Santoro et al., 2018, figure 3).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <retrace/models/networks/memory_trace.h>
#include <retrace/models/reports/evaluation/prediction.h>

namespace retrace {

struct AttentionExample : AnsweredSample {
  std::optional<std::int64_t> row_to_remember;
  bool attends_to_input = false;  // the last column then is the input
  std::int64_t slots = 0, columns = 0;
  /// T of [slots x columns]: the attention from each slot to each column, averaged over heads.
  std::vector<std::vector<double>> weights = {};
};

/// `count` different samples of those given (all of them, if there are fewer), whose rows to remember are the last, the
/// first, the middle one, and so on through all positions; without such rows, the first samples.
std::vector<std::int64_t> choose_examples(const Task& task, const std::vector<Prediction>& samples, std::int64_t count);

/// A sample of the batch that was traced.
AttentionExample attention_example(const Task& task, const Prediction& answered, const MemoryTrace& trace,
                                   std::int64_t sample);

}  // namespace retrace

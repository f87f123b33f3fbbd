// Finds parameters that take part in training but belong to no optimiser: almost always members missing from visit().
#pragma once

#include <string>
#include <vector>

#include <retrace/core/tape/record.h>

namespace retrace {

/// A parameter without an optimiser that a backward of this thread met on a tape with parameters of an optimiser.
struct UnvisitedParameter {
  Tensor parameter;
  std::string use;  // "record 3 (encoder/linear)": the first record that takes it
};

/// Notes that this parameter belongs to an optimiser.
void has_optimizer(const Tensor& parameter);
/// Searches the records of a tape for such parameters; every backward calls it with the last record. Only the first
/// sixteen calls after an optimiser was made search, then ever fewer: a member missing from visit() shows up in the
/// first step, and a search costs a few per cent of a backward walk.
void look_for_unvisited_now_and_then(const Record* last);
/// Returns, and forgets, the parameters found on this thread since the last call whose gradient is still unused.
std::vector<UnvisitedParameter> take_unvisited();

}  // namespace retrace

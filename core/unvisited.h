// Parameters that take part in training but that no optimiser moves: almost always members that visit() forgot.
#pragma once

#include <string>
#include <vector>

#include <retrace/core/record.h>

namespace retrace {

/// A parameter that a backward of this thread met beside those of an optimiser, while no optimiser had it.
struct UnvisitedParameter {
  Tensor parameter;
  std::string use;  // "record 3 (encoder/linear)": the first one that takes it
};

/// An optimiser is made for this parameter.
void has_optimizer(const Tensor& parameter);
/// Every backward calls this with the last record of its tape. Only the first sixteen after an optimiser was made look
/// through their records, then ever fewer: what visit() forgot is missing from the first step on, and a look costs a
/// few per cent of a walk.
void look_for_unvisited_now_and_then(const Record* last);
/// Hands out what was found on this thread since the last call and still has a gradient that nobody used.
std::vector<UnvisitedParameter> take_unvisited();

}  // namespace retrace

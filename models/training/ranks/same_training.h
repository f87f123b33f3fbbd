// Whether the ranks of a training began alike.
#pragma once

#include <string>
#include <vector>

#include <retrace/models/training/ranks/communicator.h>
#include <retrace/nn/module/module.h>

namespace retrace {

/// Throws ValueError on every rank unless all have kernels of one instruction set, whose bits would differ otherwise,
/// the same description and the same weights.
void check_same_training(Communicator& ranks, const std::string& description, const std::vector<NamedTensor>& weights);

}  // namespace retrace

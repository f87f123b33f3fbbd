// Checks that weights are finite.
#pragma once

#include <string>
#include <vector>

#include <retrace/nn/module/module.h>

namespace retrace {

/// Throws FileError, which names the weights, if any holds NaN or an infinity: such a model computes nothing
/// meaningful. `path` is the file that holds the weights.
void check_finite(const std::string& path, const std::vector<NamedTensor>& weights);

}  // namespace retrace

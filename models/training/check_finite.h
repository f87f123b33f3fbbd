// Weights that are numbers.
#pragma once

#include <string>
#include <vector>

#include <retrace/nn/module.h>

namespace retrace {

/// Throws FileError, with the names, for weights that hold NaN or an infinity: nothing that such a model computes means
/// anything. `path` is the file that they are from.
void check_finite(const std::string& path, const std::vector<NamedTensor>& weights);

}  // namespace retrace

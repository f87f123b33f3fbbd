#pragma once

#include <retrace/core/tensor/tensor.h>

namespace retrace {

/// A copy that is recorded: y = x, dx = dy.
Tensor identity(const Tensor& x);

}  // namespace retrace

// Shared by take and embedding: y is made of blocks of x that ids choose along an axis.
#pragma once

#include <retrace/ops/loops/ids.h>

namespace retrace {

/// y of the given shape, x[.., ids[i], ..] for each id along an axis, recorded under `info`. Throws IndexError,
/// DtypeError.
Tensor take_blocks(const OpInfo& info, const Tensor& x, const Tensor& ids, int axis, const Shape& shape);

}  // namespace retrace

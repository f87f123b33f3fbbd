// Shared by take and embedding: y is made of blocks of x that ids choose along an axis.
#pragma once

#include <retrace/ops/loops/ids.h>

namespace retrace {

struct TakeAttributes {
  int axis;
  std::int64_t constant = -1;  // the id of blocks that have no gradient; -1: of none
};
/// y of the given shape, x[.., ids[i], ..] for each id along an axis, recorded under `info`. Throws IndexError,
/// DtypeError.
Tensor take_blocks(const OpInfo& info, const Tensor& x, const Tensor& ids, const TakeAttributes& attributes,
                   const Shape& shape);

}  // namespace retrace

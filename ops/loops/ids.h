// Checking indices before anything is read with them.
#pragma once

#include <cstdint>

#include <retrace/ops/loops/operands.h>
#include <retrace/ops/ops.h>

namespace retrace {

/// The ids, all in [0, count). Throws IndexError with position and value, DtypeError if they are not i64.
inline const std::int64_t* checked_ids(const char* function, const Tensor& ids, std::int64_t count) {
  if (ids.dtype() != i64)
    throw DtypeError(text(function, ": ", describe_operand("ids", ids), " is ", ids.dtype(),
                          ", but indices are i64; make them with indices() or to(i64)"));
  std::int64_t position = 0;
  for (const std::int64_t id : ids.values<std::int64_t>()) {
    if (id < 0 || id >= count)
      throw IndexError(text(function, ": id ", id, " at position ", position, " of ", describe_operand("ids", ids),
                            " is outside 0 to ", count - 1, "; check the ids"));
    ++position;
  }
  return ids.values<std::int64_t>().data();
}

}  // namespace retrace

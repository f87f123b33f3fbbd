// Checking indices and lengths before anything is read with them.
#pragma once

#include <cstdint>

#include <retrace/ops/loops/operands.h>
#include <retrace/ops/ops.h>

namespace retrace {

/// The ids, all in [0, count). Throws IndexError with position and value, DtypeError if they are not i64.
inline const std::int64_t* checked_ids(const char* function, const Tensor& ids, std::int64_t count) {
  check_integers(function, ids, "ids", "indices");
  std::int64_t position = 0;
  for (const std::int64_t id : ids.values<std::int64_t>()) {
    if (id < 0 || id >= count)
      throw IndexError(text(function, ": id ", id, " at position ", position, " of ", describe_operand("ids", ids),
                            " is outside 0 to ", count - 1, "; check the ids"));
    ++position;
  }
  return ids.values<std::int64_t>().data();
}

/// Throws IndexError for a length that is not in [0, most].
inline void check_lengths(const char* function, const Tensor& lengths, const char* role, std::int64_t most) {
  for (const std::int64_t length : lengths.values<std::int64_t>())
    if (length < 0 || length > most)
      throw IndexError(text(function, ": a length of ", length, " is outside 0 to ", most, "; check ",
                            describe_operand(role, lengths)));
}

}  // namespace retrace

// Where the elements lie that ids pick along an axis: in whole blocks (take, embedding) or one by one (gather), or
// where updates go (scatter, scatter_add).
#pragma once

#include <retrace/ops/loops/ids.h>
#include <retrace/ops/loops/lines.h>

namespace retrace {

/// Of ids [count], the same for all lines: x is [outer, length, inner], what is picked [outer, count, inner].
struct PickedBlocks {
  std::int64_t outer, length, count, inner;

  PickedBlocks(const Shape& x, std::int64_t ids, int axis)
      : outer(x.first(axis).numel()), length(x[axis]), count(ids), inner(x.last(x.rank() - axis - 1).numel()) {}
  std::int64_t blocks() const { return outer * count; }
  std::int64_t id(std::int64_t n, const std::int64_t* ids) const { return ids[n % count]; }
  /// Where block n of what is picked lies in x.
  std::int64_t place(std::int64_t n, const std::int64_t* ids) const {
    return (n / count * length + id(n, ids)) * inner;
  }
};

/// Of ids with the rank of x, some for each line: body(place in x, place in ids), along one line after the other.
template <class Body>
void for_each_pick(const Shape& x, const Shape& ids, int axis, const std::int64_t* positions, Body&& body) {
  const Lines from(x, axis), to(ids, axis);
  for (std::int64_t line = 0; line < to.count; ++line)
    for (std::int64_t j = 0; j < to.length; ++j) {
      const std::int64_t place = to.start(line) + j * to.stride;
      body(from.start(line) + positions[place] * from.stride, place);
    }
}

/// "i, ids[j], k": the index of an element of x, for formulas.
inline std::string picked_index(int rank, int axis, const std::string& id) {
  std::string index;
  for (int k = 0; k < rank; ++k) index += (k == 0 ? "" : ", ") + (k == axis ? id : index_letter(k));
  return index;
}

}  // namespace retrace

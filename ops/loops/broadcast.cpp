#include <retrace/ops/loops/broadcast.h>

#include <retrace/ops/op.h>

namespace retrace {

Broadcast::Broadcast(const Shape& y, std::initializer_list<const Shape*> operands) {
  Offsets elements{};  // of each operand in one step of the axis at hand
  elements.fill(1);
  int used = 0;
  bool skips = false;  // an axis of length 1 inside of the one at hand
  for (int axis = -1; axis >= -y.rank(); --axis) {
    Offsets stride{};
    std::size_t n = 0;
    for (const Shape* operand : operands) {
      const std::int64_t extent = axis >= -operand->rank() ? (*operand)[axis] : 1;
      if (extent != 1) stride[n] = elements[n];
      elements[n++] *= extent;
    }
    if (y[axis] == 1) {
      skips = true;
      continue;
    }
    const std::size_t loop = static_cast<std::size_t>(used);
    bool continues = used > 0;  // the loop inside this axis, in every operand
    for (n = 0; continues && n < max_operands; ++n) continues = stride[n] == strides[loop - 1][n] * extents[loop - 1];
    // A gradient that is summed over both axes is summed in the order in which it is over a longer axis between them.
    for (n = 0; skips && continues && n < operands.size(); ++n) continues = stride[n] != 0;
    skips = false;
    if (continues) {
      extents[loop - 1] *= y[axis];
    } else {
      extents[loop] = y[axis];
      strides[loop] = stride;
      ++used;
    }
  }
  loops = std::max(used, 1);
}

void detail::visit_rows(const Broadcast& broadcast, std::int64_t begin, std::int64_t end, const void* body,
                        RowBody call) {
  if (begin == end) return;  // y may be empty, and its extents 0
  std::array<std::int64_t, max_rank> index{};
  BroadcastRow row{.first = begin};
  std::int64_t rest = begin;
  const auto move = [&](std::size_t loop, std::int64_t steps) {
    index[loop] += steps;
    for (std::size_t n = 0; n < max_operands; ++n) row.offsets[n] += steps * broadcast.strides[loop][n];
  };
  const std::size_t loops = static_cast<std::size_t>(broadcast.loops);
  for (std::size_t loop = 0; loop < loops; ++loop) {
    move(loop, rest % broadcast.extents[loop]);
    rest /= broadcast.extents[loop];
  }
  while (row.first < end) {
    row.count = std::min(broadcast.extents[0] - index[0], end - row.first);
    call(body, row);
    row.first += row.count;
    move(0, row.count);
    for (std::size_t loop = 0; loop + 1 < loops && index[loop] == broadcast.extents[loop]; ++loop) {
      move(loop, -index[loop]);
      move(loop + 1, 1);
    }
  }
}

}  // namespace retrace

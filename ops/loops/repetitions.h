// Sums over the repetitions of what was broadcast.
#pragma once

#include <retrace/core/tape/record.h>
#include <retrace/ops/loops/broadcast.h>
#include <retrace/ops/loops/ordered_sum.h>

namespace retrace {

/// dx += dy [y], summed over the repetitions of x, of a shape that broadcasts to y: each element of dx sums over those
/// of dy that it went into, in y's order.
template <class T> void add_repetitions(const Shape& y, const T* dy, const Shape& x, T* dx) {
  const Broadcast broadcast(y, {&x});
  for_each_row(broadcast, 0, y.numel(), [&](const BroadcastRow& row) {
    const auto term = [from = dy + row.first](std::int64_t k) { return from[k]; };
    T* to = dx + row.offsets[0];
    if (broadcast.stands_still(0))
      *to += ordered_sum<T>(row.count, term);
    else
      GradientSlot<T>{to, true}.put(row.count, term);
  });
}

}  // namespace retrace

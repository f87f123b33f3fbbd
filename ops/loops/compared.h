// The loop of comparisons and of logic: y[k] = 0 or 1, broadcast and not recorded.
#pragma once

#include <retrace/ops/loops/broadcast.h>
#include <retrace/ops/op.h>

namespace retrace {

/// holds(a, b) as an i64 tensor. Tangents are ignored: f64 compares with dual.
template <class Holds> Tensor compared(const char* function, const Tensor& a, const Tensor& b, const Holds& holds) {
  check_defined(function, a, "a");
  check_defined(function, b, "b");
  check_dtypes(function, a, b);
  const Shape shape = broadcast_operands(function, a, b);
  if (a.dtype() != b.dtype()) return compared(function, a.detach().to(f64), b.detach().to(f64), holds);
  const Broadcast broadcast(shape, {&a.shape(), &b.shape()});
  Tensor y = empty(shape, i64, function);
  dispatch_any(a.dtype(), [&]<class T>(T) {
    const T* of_a = OpAccess::values<T>(a);
    const T* of_b = OpAccess::values<T>(b);
    std::int64_t* to = OpAccess::values<std::int64_t>(y);
    const std::int64_t step_a = broadcast.strides[0][0], step_b = broadcast.strides[0][1];
    parallel_for(y.numel(), 16384, [&](std::int64_t begin, std::int64_t end) {
      for_each_row(broadcast, begin, end, [=](const BroadcastRow& row) {
        const T* row_a = of_a + row.offsets[0];
        const T* row_b = of_b + row.offsets[1];
        for (std::int64_t k = 0; k < row.count; ++k)
          to[row.first + k] = holds(row_a[k * step_a], row_b[k * step_b]) ? 1 : 0;
      });
    });
  });
  return y;
}

}  // namespace retrace

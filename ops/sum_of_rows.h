#pragma once

#include <cstdint>

#include <retrace/core/record.h>
#include <retrace/ops/kernels/gemm.h>

namespace retrace {

/// sums[c] = or += x[0, c] + x[1, c] + ... of x [rows, columns], in this order: a product with a row of ones.
template <class T>
void put_sum_of_rows(const T* x, std::int64_t rows, std::int64_t columns, const GradientSlot<T>& sums) {
  const T one = 1;
  kernels::gemm<T>({1, columns, rows}, {&one, 0, true}, {x, columns}, {sums.values, columns, 0, sums.add});
}

}  // namespace retrace

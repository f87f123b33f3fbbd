#pragma once

#include <algorithm>
#include <cstdint>

#include <retrace/core/base/parallel.h>
#include <retrace/core/tape/record.h>
#include <retrace/ops/kernels/elementwise.h>

namespace retrace {

/// sums[c] = or += x[0, c] + x[1, c] + ... of x [rows, columns], in this order.
template <class T>
void put_sum_of_rows(const T* x, std::int64_t rows, std::int64_t columns, const GradientSlot<T>& sums) {
  constexpr std::int64_t terms_that_pay_a_thread = 1 << 17;
  if (!sums.add) std::fill(sums.values, sums.values + columns, T(0));
  parallel_for(columns, terms_that_pay_a_thread / (rows + 1) + 64, [=](std::int64_t begin, std::int64_t end) {
    kernels::add_rows(x + begin, columns, rows, end - begin, sums.values + begin);
  });
}

}  // namespace retrace

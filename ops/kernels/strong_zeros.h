// Products in which 0 times anything is 0, NaN and infinities, too: what a weight, a mask or a gradient of 0 hides does
// not reach a sum.
#pragma once

#include <cstdint>

#include <retrace/core/tensor/dual.h>
#include <retrace/ops/kernels/gemm.h>
#include <retrace/ops/ops.h>

namespace retrace {

template <class T> bool is_zero(T x) { return x == T(0); }
inline bool is_zero(Dual x) { return x.value == 0 && x.tangent == 0; }

template <class T> T strong_product(T a, T b) { return is_zero(a) || is_zero(b) ? T(0) : a * b; }
template <class T> T product(Zeros zeros, T a, T b) { return zeros == Zeros::strong ? strong_product(a, b) : a * b; }

namespace kernels {

/// Whether none of `count` numbers is NaN or an infinity.
bool are_finite(const float* x, std::int64_t count);
bool are_finite(const double* x, std::int64_t count);

/// gemm with strong zeros: the bits are those of gemm with 0 in place of what zeros of the other factor hide. Costs a
/// look at C, or at both factors if it accumulates, where everything is finite. Takes no packed factor and no
/// activation.
void gemm_with_strong_zeros(GemmShape shape, GemmOperand<float> a, GemmOperand<float> b, GemmResult<float> c);
void gemm_with_strong_zeros(GemmShape shape, GemmOperand<double> a, GemmOperand<double> b, GemmResult<double> c);

template <class T> void gemm(Zeros zeros, GemmShape shape, GemmOperand<T> a, GemmOperand<T> b, GemmResult<T> c) {
  if (zeros == Zeros::strong)
    gemm_with_strong_zeros(shape, a, b, c);
  else
    gemm<T>(shape, a, b, c);
}

}  // namespace kernels
}  // namespace retrace

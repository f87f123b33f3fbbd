// The rules by which a tensor counts as equal to the reference.
#pragma once

#include <string>

#include <retrace/core/tensor/tensor.h>

namespace retrace::golden {

/// |got - want| <= atol + rtol |want|, and with `of_largest` rtol of the largest |want| of the tensor.
struct Tolerance {
  double rtol = 0;
  double atol = 0;
  bool of_largest = false;
};

/// The tolerance of results in f32 compared with the reference in f64: 64 roundings (3.8e-6) of 1 and of the largest
/// number of the tensor, because a small element may be the difference of terms of that size; plus one rounding of the
/// case's largest input, which is all that an op knows of it (e^(x - y) at x = 1000). The worst op needs a quarter of
/// this. The tolerance is infinite if the reference exceeds the range of f32.
Tolerance tolerance_f32(double largest_input);

/// The largest |x| that is finite; 0 if there is none.
double largest_finite(const Tensor& x);

/// "" if all elements are equal, otherwise a text on the largest difference. Infinities must be equal; NaN never is.
std::string difference(const Tensor& got, const Tensor& want, const Tolerance& tolerance);

}  // namespace retrace::golden

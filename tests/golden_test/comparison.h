// The rules by which a tensor of ours counts as equal to the reference.
#pragma once

#include <string>

#include <retrace/core/tensor.h>

namespace retrace::golden {

/// |got - want| <= atol + rtol |want|, and with `of_largest` rtol of the largest |want| of the tensor.
struct Tolerance {
  double rtol = 0;
  double atol = 0;
  bool of_largest = false;
};

/// What results in f32 may differ by from the truth in f64: 64 roundings (3.8e-6) of 1 and of the largest number of the
/// tensor, for a small element may be the difference of terms of that size; and one rounding of the case's largest
/// input, for an op that knows its inputs no better than that is right (e^(x - y) at x = 1000). The worst of the ops
/// needs a quarter of it. Where the truth is beyond f32 it is infinite.
Tolerance tolerance_f32(double largest_input);

/// The largest |x| that is finite; 0 if there is none.
double largest_finite(const Tensor& x);

/// "" if all elements are equal, else what differs most. Infinite numbers must be equal; NaN never is.
std::string difference(const Tensor& got, const Tensor& want, const Tolerance& tolerance);

}  // namespace retrace::golden

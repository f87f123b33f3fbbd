// Checks shared by recording and by the backward walk, and how their errors name a tensor.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>

#include <retrace/core/tensor.h>

namespace retrace {

/// Whether no element is NaN or infinite.
inline bool all_finite(const void* values, std::int64_t count, Dtype dtype) {
  if (dtype == i64) return true;
  return dispatch_real(dtype, "check_finite", [&](auto zero) {
    using T = decltype(zero);
    using std::isfinite;
    const T* first = static_cast<const T*>(values);
    return std::all_of(first, first + count, [](T x) { return isfinite(x); });
  });
}

// "input 'h' [2, 3]"
/// "output 0 [2, 3]", or its name: an operand in an error of the tape.
inline std::string describe_at(const char* role, std::size_t i, const Tensor& x) {
  if (x.name().empty()) return text(role, " ", i, " ", x.shape());
  return text(role, " '", x.name(), "' ", x.shape());
}

}  // namespace retrace

#include <retrace/core/tensor/finite_check.h>

#include <algorithm>
#include <cmath>

#include <retrace/core/base/error.h>
#include <retrace/core/tensor/element_index.h>

namespace retrace {

std::int64_t find_nonfinite(const void* values, std::int64_t count, Dtype dtype) {
  if (dtype == i64) return -1;
  return dispatch_real(dtype, "check_finite", [&](auto zero) -> std::int64_t {
    using T = decltype(zero);
    using std::isfinite;
    const T* first = static_cast<const T*>(values);
    const T* found = std::find_if(first, first + count, [](T x) { return !isfinite(x); });
    return found == first + count ? -1 : found - first;
  });
}

std::string element_text(const void* values, const Shape& shape, Dtype dtype, std::int64_t position) {
  const double value = dispatch_real(dtype, "check_finite", [&](auto zero) {
    return static_cast<double>(static_cast<const decltype(zero)*>(values)[position]);
  });
  return text(value, shape.rank() == 0 ? "" : " at " + index_in_brackets(index_at(position, shape)));
}

}  // namespace retrace

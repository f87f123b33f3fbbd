#include <retrace/ops/op.h>

namespace retrace {

Tensor nonzero(const Tensor& x) {
  check_defined("nonzero", x, "x");
  return dispatch_any(x.dtype(), [&]<class T>(T) {
    std::int64_t count = 0;
    for (const T& element : x.values<T>()) count += element != T(0) ? 1 : 0;
    const int rank = x.rank();
    const auto strides = x.shape().strides();
    Tensor y = empty({count, rank}, i64, "nonzero");
    std::int64_t* to = OpAccess::values<std::int64_t>(y);
    std::int64_t place = 0;
    for (const T& element : x.values<T>()) {
      if (element != T(0))
        for (int axis = 0; axis < rank; ++axis) *to++ = place / strides[static_cast<std::size_t>(axis)] % x.dim(axis);
      ++place;
    }
    return y;
  });
}

}  // namespace retrace

// Whether the gradient of layer norm can start from its result.
#pragma once

#include <retrace/ops/op.h>

namespace retrace {

/// Whether n = (y - beta) / gamma is exact to a few units in the last place of 1 + |n|. The gradient then starts from
/// y, which the next op usually saves as well, and the tape keeps no other array. Whether it is exact depends on the
/// values of gamma and beta: where gamma is nearly 0, y does not tell n. Looking at them is worth a quarter of the
/// memory: a training step of the relational memory core takes 270 MB instead of 360 with 256 samples, and 1,690 MB
/// instead of 2,300 with 1,600, in the same time.
inline bool gives_back_normal(const char* function, const Tensor& gamma, const Tensor& beta) {
  constexpr double smallest = 1e-6, largest = 1e6;  // gamma whose reciprocal is an ordinary number
  constexpr double max_beta = 4;                    // times gamma
  const Tensor& given = gamma.defined() ? gamma : beta;
  if (!given.defined()) return true;
  return dispatch_real(given.dtype(), function, [&]<class T>(T) {
    const T *scales = values_or_null<T>(gamma), *offsets = values_or_null<T>(beta);
    bool given_back = true;
    for (std::int64_t k = 0; k < given.numel(); ++k) {
      const T scale = scales == nullptr ? T(1) : abs(scales[k]), offset = offsets == nullptr ? T(0) : abs(offsets[k]);
      given_back &= scale >= T(smallest) && scale <= T(largest) && offset <= T(max_beta) * scale;
    }
    return given_back;
  });
}

}  // namespace retrace

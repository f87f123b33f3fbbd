// Arguments of a step of a GRU, for one sample.
#pragma once

#include <cstdint>

namespace retrace {

/// p [3 size], the projected inputs, becomes the gates r, z, n of p and the recurrent part q;
/// h = n + z (h_before - n).
template <class T> struct GruForward {
  T* p;
  const T *q, *h_before;
  T* h;
  std::int64_t size;
};

/// From dh + dy (dy may be null), the gradient of h, to those of p and q; dh becomes the part of the gradient of
/// h_before that does not come through q. dp may be the gates, and dq q.
template <class T> struct GruBackward {
  const T *gates, *q, *h_before, *dy;
  T *dh, *dp, *dq;
  std::int64_t size;
};

namespace plain {
template <class T> void gru_forward(const GruForward<T>& args);
template <class T> void gru_backward(const GruBackward<T>& args);
}  // namespace plain

}  // namespace retrace

// Arguments of a step of an LSTM, for one sample.
#pragma once

#include <cstdint>

namespace retrace {

/// z [4 size], the sums of the gates, becomes the gates i, f, g, o; c = f c_before + i g, h = o tanh c.
template <class T> struct LstmForward {
  T* z;
  const T* c_before;
  T *c, *h;
  std::int64_t size;
};

/// From dh + dy (dy may be null) and dc, the gradients of h and c, to that of z and the dc before the step; dh becomes
/// 0. dz may be the gates.
template <class T> struct LstmBackward {
  const T *gates, *c_before, *c, *dy;
  T *dh, *dc, *dz;
  std::int64_t size;
};

namespace plain {
template <class T> void lstm_forward(const LstmForward<T>& args);
template <class T> void lstm_backward(const LstmBackward<T>& args);
}  // namespace plain

}  // namespace retrace

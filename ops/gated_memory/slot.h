// Arguments of the gates of a memory, for one slot.
#pragma once

#include <cstdint>

namespace retrace {

/// A slot m of a memory and its candidate c, with a gate for each of the `size` units: of z = p + q the first `size`
/// elements give the input gate i = sigmoid(z + input_bias), the next ones the forget gate f = sigmoid(z +
/// forget_bias); where `coupled`, there is but the first and f = 1 - i. next = i tanh c + f m. The gates are written,
/// too.
template <class T> struct SlotForward {
  const T *m, *c, *p, *q;
  T *next, *i, *f;
  std::int64_t size;
  T input_bias, forget_bias;
  bool coupled;
};

/// From the gradients of next, i and f (each may be null) to dz and to dm and dc, which are written or, with `add_m` or
/// `add_c`, added to (each may be null). dm may be dnext.
template <class T> struct SlotBackward {
  const T *m, *c, *i, *f, *dnext, *di, *df;
  T *dz, *dm, *dc;
  std::int64_t size;
  bool coupled, add_m, add_c;
};

namespace plain {
template <class T> void slot_forward(const SlotForward<T>& args);
template <class T> void slot_backward(const SlotBackward<T>& args);
}  // namespace plain

}  // namespace retrace

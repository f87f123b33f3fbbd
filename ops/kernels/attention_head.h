// Arguments of attention of one head. Small heads of floats and doubles run the kernels of this machine's instruction
// set, which keep a row of weights in one vector and have, to the last bit, the results of attention/general.h; other
// types run the plain loops in ops/attention/attention.cpp.
#pragma once

#include <cstdint>

namespace retrace::kernels {

struct HeadSizes {
  std::int64_t queries, keys;
  std::int64_t features, values;  // of a row of q and k, and of one of v
};

/// Rows that are `step` elements apart; null data: no rows.
template <class T> struct HeadRows {
  T* data;
  std::int64_t step;

  explicit operator bool() const { return data != nullptr; }
  T* operator[](std::int64_t row) const { return data + row * step; }
};

/// weights [queries, keys] = softmax(scale q k^T + mask), y = weights v; with `causal` query i sees the first
/// i + 1 + keys - queries keys.
template <class T> struct HeadForward {
  HeadSizes n;
  HeadRows<const T> q, k, v;
  T* weights;
  HeadRows<T> y;
  T scale;
  bool causal;
  const T* mask = nullptr;  // [queries, keys], or null; the plain loops alone read it
};

/// dw = dy v^T + dweights, ds = scale weights (dw - sum dw weights); then, one after the other as they may be one
/// matrix, dv = weights^T dy, dq = ds k, dk = ds^T q, written or (add_*) added. dy, dweights, dv, dq and dk may each be
/// null.
template <class T> struct HeadBackward {
  HeadSizes n;
  HeadRows<const T> q, k, v, dy;
  const T *weights, *dweights;
  HeadRows<T> dq, dk, dv;
  T scale;
  bool add_q, add_k, add_v;
};

inline constexpr std::int64_t max_head_features = 128, max_head_queries = 64;  // of the kernels

// The plain loops, for float, double and Dual.
template <class T> void head_forward_plain(const HeadForward<T>& args);
template <class T> void head_backward_plain(const HeadBackward<T>& args);

}  // namespace retrace::kernels

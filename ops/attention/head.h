// Arguments of attention of one head. The kernels for small heads keep a row of weights in one vector and have, to the
// last bit, the results of general.h.
#pragma once

#include <cstdint>

namespace retrace {

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

/// dw = dy v^T + dweights, dscores = weights (dw - sum dw weights), ds = scale dscores; then, one after the other as
/// they may be one matrix, dv = weights^T dy, dq = ds k, dk = ds^T q, written or (add_*) added. dy, dweights, dv, dq,
/// dk and dscores may each be null.
template <class T> struct HeadBackward {
  HeadSizes n;
  HeadRows<const T> q, k, v, dy;
  const T *weights, *dweights;
  HeadRows<T> dq, dk, dv;
  T scale;
  T* dscores = nullptr;  // the plain loops alone write them
  bool add_q, add_k, add_v;
};

inline constexpr std::int64_t max_head_features = 128, max_head_queries = 64;  // of the kernels

namespace plain {
template <class T> void head_forward(const HeadForward<T>& args);
template <class T> void head_backward(const HeadBackward<T>& args);
}  // namespace plain

}  // namespace retrace

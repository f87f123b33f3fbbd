// Attention of one small head in registers: a row of its weights is one vector. What is computed, and to the last bit,
// is what attention/general.h computes for any head from matrix products and softmax; that is the plain twin.
#pragma once

#include <cstdint>

namespace retrace::kernels {

struct HeadSizes {
  std::int64_t queries, keys;
  std::int64_t features, values;  // of a row of q and k, and of one of v
};

/// Rows that are `step` elements apart.
template <class T> struct HeadRows {
  T* data;
  std::int64_t step;
};

/// weights [queries, keys] = softmax(scale q k^T), y = weights v; with `causal` query i sees the first
/// i + 1 + keys - queries keys.
template <class T> struct HeadForward {
  HeadSizes n;
  HeadRows<const T> q, k, v;
  T* weights;
  HeadRows<T> y;
  T scale;
  bool causal;
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

/// The kernels for one type, of one instruction set.
template <class T> struct HeadKernels {
  std::int64_t most_keys;  ///< the elements of a vector
  void (*forward)(const HeadForward<T>&);
  void (*backward)(const HeadBackward<T>&);
};
/// Those of this machine.
template <class T> const HeadKernels<T>& head_kernels();

constexpr std::int64_t most_head_features = 128, most_head_queries = 64;

/// Whether the kernels can compute such a head.
template <class T> bool fits_in_registers(const HeadSizes& n) {
  return n.keys >= 1 && n.keys <= head_kernels<T>().most_keys && n.queries <= most_head_queries &&
         n.features <= most_head_features && n.values <= most_head_features;
}

}  // namespace retrace::kernels

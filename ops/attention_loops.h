// The loops of attention. The heads lie side by side in the last axis, and stay there: a head is a matrix whose rows are
// further apart than they are long, which is all that a matrix product has to know. So q, k and v may as well be parts of
// one tensor.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include <retrace/core/parallel.h>
#include <retrace/core/tape.h>
#include <retrace/ops/broadcast.h>
#include <retrace/ops/kernels/gemm.h>
#include <retrace/ops/softmax_line.h>

namespace retrace {

inline constexpr std::int64_t attention_grain = 4096;  // weights that are worth a thread

struct AttentionSizes {
  std::int64_t batch, heads, queries, keys;
  std::int64_t features, values;  // of a head: d, and the length of its part of a row of v

  double scale() const { return 1 / std::sqrt(static_cast<double>(std::max<std::int64_t>(features, 1))); }
  std::int64_t rows() const { return batch * heads * queries; }
};

/// The matrices of all heads of all samples.
template <class T>
struct Matrices {
  T* data;
  std::int64_t row_stride, head_stride, batch_stride;
};
/// Of x [..., rows, heads columns].
template <class T>
Matrices<T> in_features(T* x, std::int64_t rows, std::int64_t columns, std::int64_t heads) {
  return {x, heads * columns, columns, rows * heads * columns};
}
/// Of the weights [..., heads, queries, keys].
template <class T>
Matrices<T> in_weights(T* weights, const AttentionSizes& n) {
  return {weights, n.keys, n.queries * n.keys, n.heads * n.queries * n.keys};
}

template <class T>
struct Factor {
  Matrices<const T> matrices;
  bool transposed = false;
};

/// c (+)= op(a) op(b), head by head.
template <class T>
void multiply(kernels::GemmShape shape, std::int64_t heads, Factor<T> a, Factor<T> b, Matrices<T> c, bool add) {
  const auto factor = [](const Factor<T>& f, std::int64_t head) {
    const Matrices<const T>& m = f.matrices;
    return kernels::GemmOperand<T>{m.data + head * m.head_stride, m.row_stride, f.transposed, m.batch_stride};
  };
  for (std::int64_t head = 0; head < heads; ++head)
    kernels::gemm<T>(shape, factor(a, head), factor(b, head),
            {c.data + head * c.head_stride, c.row_stride, c.batch_stride, add});
}

/// The scores become weights; with `causal`, query i sees the first i + 1 + keys - queries keys.
template <class T>
void softmax_rows(T* weights, const AttentionSizes& n, bool causal) {
  parallel_for(n.rows(), attention_grain / (n.keys + 1) + 1, [=](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      T* line = weights + row * n.keys;
      const std::int64_t seen =
          causal ? std::clamp<std::int64_t>(row % n.queries + 1 + n.keys - n.queries, 0, n.keys) : n.keys;
      softmax_line(line, line, seen, 1);
      std::fill(line + seen, line + n.keys, T(0));
    }
  });
}

/// scores = scores / sqrt(d) + mask.
template <class T>
void scale_and_mask(T* scores, const Shape& shape, double scale, const Tensor& mask) {
  const T factor = static_cast<T>(scale);
  if (!mask.defined()) {
    parallel_for(shape.numel(), 4 * attention_grain, [=](std::int64_t begin, std::int64_t end) {
      for (std::int64_t k = begin; k < end; ++k) scores[k] *= factor;
    });
    return;
  }
  const T* added = mask.values<T>().data();
  const Broadcast broadcast(shape, {&mask.shape()});
  parallel_for(shape.numel(), 4 * attention_grain, [=](std::int64_t begin, std::int64_t end) {
    for_each_row(broadcast, begin, end, [=](const BroadcastRow& row) {
      const std::int64_t stride = broadcast.strides[0][0];
      for (std::int64_t k = 0; k < row.count; ++k)
        scores[row.first + k] = scores[row.first + k] * factor + added[row.offsets[0] + k * stride];
    });
  });
}

/// ds = w (dw - sum dw w) / sqrt(d), row by row; ds holds the part of dw that came through y.
template <class T>
void gradient_of_scores(const T* weights, const T* direct, T* ds, const AttentionSizes& n) {
  const T scale = static_cast<T>(n.scale());
  parallel_for(n.rows(), attention_grain / (n.keys + 1) + 1, [=](std::int64_t begin, std::int64_t end) {
    for (std::int64_t first = begin * n.keys; first < end * n.keys; first += n.keys) {
      const T* w = weights + first;
      T* to = ds + first;
      if (direct != nullptr)
        for (std::int64_t k = 0; k < n.keys; ++k) to[k] += direct[first + k];
      const T dot = ordered_sum<T>(n.keys, [=](std::int64_t k) { return to[k] * w[k]; });
      for (std::int64_t k = 0; k < n.keys; ++k) to[k] = w[k] * (to[k] - dot) * scale;
    }
  });
}

/// q, k, v, or their gradients.
template <class T>
struct AttentionOperands {
  Matrices<T> q, k, v;
};

template <class T>
Factor<T> factor(const Matrices<T>& m, bool transposed = false) {
  return {{m.data, m.row_stride, m.head_stride, m.batch_stride}, transposed};
}
template <class T>
Factor<T> factor(const Matrices<const T>& m, bool transposed = false) {
  return {m, transposed};
}

/// weights = softmax(q k^T / sqrt(d) + mask), y = weights v.
template <class T>
void attention_forward(const AttentionSizes& n, const AttentionOperands<const T>& in, bool causal, const Tensor& mask,
                       const Shape& shape, T* weights, Matrices<T> y) {
  const Matrices<T> w = in_weights(weights, n);
  multiply<T>({n.queries, n.keys, n.features, n.batch}, n.heads, factor<T>(in.q), factor<T>(in.k, true), w, false);
  scale_and_mask(weights, shape, n.scale(), mask);
  softmax_rows(weights, n, causal);
  multiply<T>({n.queries, n.values, n.keys, n.batch}, n.heads, factor<T>(w), factor<T>(in.v), y, false);
}

/// ds [.., heads, queries, keys], the gradient of the scores, from that of y and that of the weights (either may be null).
template <class T>
Tensor attention_scores_gradient(const AttentionSizes& n, const Matrices<const T>& v, const T* weights,
                                 const Matrices<const T>& dy, const T* dweights, const Node& of) {
  Tensor result = zeros(of.shape, of.dtype);
  T* ds = result.mutable_values<T>().data();
  if (dy.data != nullptr)
    multiply<T>({n.queries, n.keys, n.values, n.batch}, n.heads, factor<T>(dy), factor<T>(v, true), in_weights(ds, n),
                false);
  gradient_of_scores(weights, dweights, ds, n);
  return result;
}

/// dv += w^T dy, dq += ds k, dk += ds^T q.
template <class T>
void add_dv(const AttentionSizes& n, const T* weights, const Matrices<const T>& dy, const Matrices<T>& dv, bool add) {
  multiply<T>({n.keys, n.values, n.queries, n.batch}, n.heads, factor<T>(in_weights(weights, n), true), factor<T>(dy), dv,
              add);
}
template <class T>
void add_dq(const AttentionSizes& n, const T* ds, const Matrices<const T>& k, const Matrices<T>& dq, bool add) {
  multiply<T>({n.queries, n.features, n.keys, n.batch}, n.heads, factor<T>(in_weights(ds, n)), factor<T>(k), dq, add);
}
template <class T>
void add_dk(const AttentionSizes& n, const T* ds, const Matrices<const T>& q, const Matrices<T>& dk, bool add) {
  multiply<T>({n.keys, n.features, n.queries, n.batch}, n.heads, factor<T>(in_weights(ds, n), true), factor<T>(q), dk,
              add);
}

}  // namespace retrace

// The loops of attention for heads of any size. The heads lie side by side in the last axis, and stay there: a head is
// a matrix whose rows are further apart than they are long, which is all that a matrix product has to know. So q, k and
// v may as well be parts of one tensor.
#pragma once

#include <retrace/ops/kernels/run.h>
#include <retrace/ops/kernels/strong_zeros.h>
#include <retrace/ops/loops/broadcast.h>
#include <retrace/ops/loops/masked.h>

namespace retrace {

inline constexpr std::int64_t attention_grain = 4096;  // weights that are worth a thread

/// The factor of q k^T for d features.
inline double usual_scale(std::int64_t features) {
  return 1 / std::sqrt(static_cast<double>(std::max<std::int64_t>(features, 1)));
}

struct AttentionSizes {
  std::int64_t batch, heads, queries, keys;
  std::int64_t features, values;   // of a head: d, and the length of its part of a row of v
  double scale;                    // of the products q k^T
  std::int64_t heads_per_key = 1;  // how many heads of q in turn share one head of k and v
};

/// The matrices of all heads of all samples; `sharing` heads in turn have the same one.
template <class T> struct Matrices {
  T* data;
  std::int64_t row_stride, head_stride, batch_stride;
  std::int64_t sharing = 1;

  /// The matrix of a head, in the first sample.
  T* of_head(std::int64_t head) const { return data + head / sharing * head_stride; }
};
/// The matrices of x [..., rows, heads columns].
template <class T>
Matrices<T> in_features(T* x, std::int64_t rows, std::int64_t columns, std::int64_t heads, std::int64_t sharing = 1) {
  return {x, heads * columns, columns, rows * heads * columns, sharing};
}
/// Heads that are computed together, as many as keep their weights in the cache from one product to the next: some
/// heads of one sample, or all heads of several samples. Their weights follow each other.
struct HeadGroup {
  std::int64_t sample, samples, head, heads;

  std::int64_t items() const { return samples * heads; }
  std::int64_t first_item(const AttentionSizes& n) const { return sample * n.heads + head; }
};

/// How many weights stay in the cache from one product to the next.
inline constexpr std::int64_t weights_of_a_group = 32768;

/// body(sample, head) for each head, over threads that get `grain` of them or more. Heads that share a key, to whose
/// gradient they add, are one thread's.
template <class Body> void for_each_head_in_turn(const AttentionSizes& n, std::int64_t grain, Body&& body) {
  parallel_for(n.batch * n.heads / n.heads_per_key, (grain - 1) / n.heads_per_key + 1,
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t item = begin * n.heads_per_key; item < end * n.heads_per_key; ++item)
                   body(item / n.heads, item % n.heads);
               });
}

/// body(group) for groups that together are all heads of all samples, over threads.
template <class Body> void for_each_group(const AttentionSizes& n, Body&& body) {
  const std::int64_t of_a_sample = std::max<std::int64_t>(n.heads * n.queries * n.keys, 1);
  const std::int64_t samples = weights_of_a_group / of_a_sample;
  if (samples == 0) {
    for_each_head_in_turn(n, attention_grain * n.heads / of_a_sample + 1, [&](std::int64_t sample, std::int64_t head) {
      body(HeadGroup{sample, 1, head, 1});
    });
    return;
  }
  parallel_for(n.batch, attention_grain / of_a_sample + 1, [&](std::int64_t begin, std::int64_t end) {
    for (; begin < end; begin += samples) body(HeadGroup{begin, std::min(samples, end - begin), 0, n.heads});
  });
}

/// The first head of a group, and how far the next head and the next sample are from it.
template <class T> Matrices<T> matrices_of(const Matrices<T>& all_heads, const HeadGroup& group) {
  Matrices<T> result = all_heads;
  result.data = all_heads.of_head(group.head) + group.sample * all_heads.batch_stride;
  return result;
}
/// The matrices of the weights of one group.
template <class T> Matrices<T> weights_of(T* weights, const AttentionSizes& n, const HeadGroup& group) {
  return {weights, n.keys, n.queries * n.keys, group.heads * n.queries * n.keys};
}

template <class T> struct Factor {
  Matrices<T> matrices;
  bool transposed = false;
};

/// c (+)= op(a) op(b), m x k by k x n, for each head of the group. Heads that share a matrix of c add to it.
template <class T>
void multiply(Zeros zeros, kernels::GemmShape shape, const HeadGroup& group, Factor<const T> a, Factor<const T> b,
              Matrices<T> c, bool add) {
  const auto factor = [](const Factor<const T>& f, std::int64_t head) {
    const Matrices<const T>& m = f.matrices;
    return kernels::GemmOperand<T>{m.of_head(head), m.row_stride, f.transposed, m.batch_stride};
  };
  shape.batch = group.samples;
  for (std::int64_t head = 0; head < group.heads; ++head)
    kernels::gemm<T>(zeros, shape, factor(a, head), factor(b, head),
                     {c.of_head(head), c.row_stride, c.batch_stride, add || (group.head + head) % c.sharing != 0});
}

/// Hides keys from queries: an additive mask that broadcasts to the shape of all weights, or nothing, and with
/// `causal` that query i sees the first i + 1 + keys - queries keys.
struct HiddenKeys {
  bool causal = false;
  Tensor mask = {};
  Shape weights_shape = {};

  /// Whether the mask is an input of the record.
  bool wants_gradient() const { return mask.defined() && mask.wants_gradient() && Tape::current() != nullptr; }
};

/// Whether some query may not see some key; the last one sees all of causal attention's. Such a key and its value have
/// no effect, whatever they hold: zeros of weights and of their gradients are strong.
inline bool hides_keys(const AttentionSizes& n, bool causal, bool masked) {
  return masked || (causal && n.queries > 1);
}

/// Queries from `first` on, and how many of the keys their rows of weights hold.
struct QueryTile {
  std::int64_t first, queries, keys;
};

/// The scores of the tile, times `scale`, become weights.
template <class T>
void softmax_of_queries(T* weights, const AttentionSizes& n, const QueryTile& tile, bool causal, T scale) {
  for (std::int64_t row = 0; row < tile.queries;) {  // head by head
    const std::int64_t query = (tile.first + row) % n.queries;
    const std::int64_t rows = causal ? std::min(n.queries - query, tile.queries - row) : tile.queries;
    T* first = weights + row * tile.keys;
    kernels::run<T>(&kernels::KernelTable::softmax, plain::softmax<T>,
                    {.x = first,
                     .y = first,
                     .rows = rows,
                     .length = tile.keys,
                     .scale = scale,
                     .causal = causal,
                     .first_seen = query + 1 + n.keys - n.queries});
    row += rows;
  }
}

/// scores = scale scores + mask, -inf where hidden, for elements [begin, end) of the scores of all items; `scores`
/// is the first.
template <class T>
void scale_and_mask(T* scores, const Broadcast& broadcast, const T* mask, T scale, std::int64_t begin,
                    std::int64_t end) {
  for_each_row(broadcast, begin, end, [=, stride = broadcast.strides[0][0]](const BroadcastRow& row) {
    T* line = scores + (row.first - begin);
    for (std::int64_t k = 0; k < row.count; ++k)
      line[k] = masked_sum(line[k] * scale, mask[row.offsets[0] + k * stride]);
  });
}

/// q, k, v, or their gradients.
template <class T> struct AttentionOperands { Matrices<T> q, k, v; };

/// The scores of the tile, whose first row is row `first_row` of all heads' weights, become those weights.
template <class T>
void weights_of_scores(const AttentionSizes& n, const HiddenKeys& hidden, std::int64_t first_row, const QueryTile& tile,
                       T* weights) {
  const T scale = static_cast<T>(n.scale);
  if (!hidden.mask.defined()) return softmax_of_queries(weights, n, tile, hidden.causal, scale);
  const Broadcast broadcast(hidden.weights_shape, {&hidden.mask.shape()});
  scale_and_mask(weights, broadcast, hidden.mask.values<T>().data(), scale, first_row * n.keys,
                 (first_row + tile.queries) * n.keys);
  softmax_of_queries(weights, n, tile, hidden.causal, T(1));
}

/// weights = softmax(scale q k^T + mask), y = weights v. The zeros are those of the weights of hidden keys.
template <class T>
void large_heads_forward(const AttentionSizes& n, const AttentionOperands<const T>& in, const HiddenKeys& hidden,
                         T* weights, const Matrices<T>& y, Zeros zeros = Zeros::ordinary) {
  for_each_group(n, [&](const HeadGroup& group) {
    const std::int64_t first_row = group.first_item(n) * n.queries;
    T* of_group = weights + first_row * n.keys;
    multiply<T>(Zeros::ordinary, {n.queries, n.keys, n.features}, group, {matrices_of(in.q, group)},
                {matrices_of(in.k, group), true}, weights_of(of_group, n, group), false);
    weights_of_scores(n, hidden, first_row, {0, group.items() * n.queries, n.keys}, of_group);
    multiply<T>(zeros, {n.queries, n.values, n.keys}, group, {weights_of<const T>(of_group, n, group)},
                {matrices_of(in.v, group)}, matrices_of(y, group), false);
  });
}

/// The gradients of q, k and v (each null where it is not wanted) from those of y and of the weights (either may be
/// null). What is first of them is written or added to as `add_*` says, in the order v, q, k: they may be one tensor.
template <class T> struct AttentionGradient {
  AttentionOperands<const T> in;
  const T* weights;
  Matrices<const T> dy;
  const T* dweights;
  AttentionOperands<T> out;
  bool add_v, add_q, add_k;
  Zeros zeros = Zeros::ordinary;  // strong for weights and gradients where something is not finite
  T* dscores = nullptr;           // the gradient of scores with a mask, ds / scale, or null where nobody wants it
};

/// ds = scale w (dw - sum dw w) of a group, where dw = dy v^T and what came to the weights directly.
template <class T>
void gradient_of_scores(const AttentionSizes& n, const AttentionGradient<T>& args, const HeadGroup& group, T* ds) {
  const std::int64_t first = group.first_item(n) * n.queries * n.keys, size = group.items() * n.queries * n.keys;
  if (args.dy.data != nullptr)
    multiply<T>(args.zeros, {n.queries, n.keys, n.values}, group, {matrices_of(args.dy, group)},
                {matrices_of(args.in.v, group), true}, weights_of(ds, n, group), false);
  else
    std::fill(ds, ds + size, T(0));
  if (args.dweights != nullptr)
    for (std::int64_t k = 0; k < size; ++k) ds[k] += args.dweights[first + k];
  T* const slopes = args.dscores == nullptr ? ds : args.dscores + first;
  const T scale = static_cast<T>(n.scale);
  kernels::run<T>(&kernels::KernelTable::softmax_gradient, plain::softmax_gradient<T>,
                  {args.weights + first, ds, slopes, group.items() * n.queries, n.keys, slopes == ds ? scale : T(1)});
  if (slopes != ds)
    for (std::int64_t k = 0; k < size; ++k) ds[k] = scale * slopes[k];
}

/// dv += w^T dy, dq += ds k, dk += ds^T q.
template <class T> void large_heads_backward(const AttentionSizes& n, const AttentionGradient<T>& args) {
  for_each_group(n, [&](const HeadGroup& group) {
    const Tensor room = empty({group.items(), n.queries, n.keys}, dtype_of<T>);
    T* ds = OpAccess::values<T>(room);
    const T* w = args.weights + group.first_item(n) * n.queries * n.keys;
    gradient_of_scores(n, args, group, ds);
    const Matrices<const T> scores = weights_of<const T>(ds, n, group);
    if (args.out.v.data != nullptr && args.dy.data != nullptr)
      multiply<T>(args.zeros, {n.keys, n.values, n.queries}, group, {weights_of(w, n, group), true},
                  {matrices_of(args.dy, group)}, matrices_of(args.out.v, group), args.add_v);
    if (args.out.q.data != nullptr)
      multiply<T>(args.zeros, {n.queries, n.features, n.keys}, group, {scores}, {matrices_of(args.in.k, group)},
                  matrices_of(args.out.q, group), args.add_q);
    if (args.out.k.data != nullptr)
      multiply<T>(args.zeros, {n.keys, n.features, n.queries}, group, {scores, true}, {matrices_of(args.in.q, group)},
                  matrices_of(args.out.k, group), args.add_k);
  });
}

}  // namespace retrace

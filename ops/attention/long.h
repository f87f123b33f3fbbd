// Attention of long sequences: some queries of a head at a time, so that the weights of all are never there together;
// backward computes them again. The bits of finite values are those of general.h; where q, k or v are one
// tensor, the contributions to its gradient are added in another order.
#pragma once

#include <optional>

#include <retrace/core/base/threads_scope.h>
#include <retrace/ops/attention/general.h>

namespace retrace {

inline constexpr std::int64_t min_queries = 24;  // of a tile

/// Whether the weights of a head would leave the cache, and outnumber its queries, keys and values so far that
/// computing them twice is cheaper than storing them.
inline bool is_long(const AttentionSizes& n) {
  return n.queries * n.keys > weights_of_a_group && n.queries > min_queries && n.keys > n.features + n.values;
}

inline constexpr std::int64_t keys_of_a_block = 128;

/// body(first, count) for the blocks of keys.
template <class Body> void for_each_key_block(std::int64_t keys, Body&& body) {
  for (std::int64_t first = 0; first < keys; first += keys_of_a_block)
    body(first, std::min(keys_of_a_block, keys - first));
}

/// body(tile) for all queries of a head, in order. Blocks of keys that no query of a tile sees are left out,
/// and so are infinities and NaNs in them.
template <class Body> void for_each_query_tile(const AttentionSizes& n, const HiddenKeys& hidden, Body&& body) {
  const std::int64_t max_queries = std::max(weights_of_a_group / n.keys, min_queries);
  for (std::int64_t first = 0; first < n.queries; first += max_queries) {
    const std::int64_t queries = std::min(max_queries, n.queries - first);
    const std::int64_t seen = first + queries + n.keys - n.queries;
    const std::int64_t blocks = (std::max<std::int64_t>(seen, 1) + keys_of_a_block - 1) / keys_of_a_block;
    const bool skips = hidden.causal && !hidden.mask.defined();
    body(QueryTile{first, queries, skips ? std::min(blocks * keys_of_a_block, n.keys) : n.keys});
  }
}

/// The keys or values of a head [keys, columns], or their transpose, as panels for the products of many tiles. Products
/// with strong zeros read the rows instead.
template <class T> class RightPanels {
 public:
  RightPanels(Zeros zeros, std::int64_t keys, std::int64_t columns, const Matrices<const T>& head, bool transposed)
      : zeros_(zeros),
        rows_{head.data, head.row_stride, transposed},
        block_size_(
            std::max(kernels::packed_size(columns, keys_of_a_block), kernels::packed_size(keys_of_a_block, columns))) {
    if (zeros == Zeros::strong) return;
    panels_ = empty({(keys + keys_of_a_block - 1) / keys_of_a_block * block_size_}, dtype_of<T>);
    for_each_key_block(keys, [&](std::int64_t first, std::int64_t count) {
      kernels::pack_right_factor<T>(transposed ? columns : count, transposed ? count : columns, rows_from(first),
                                    OpAccess::values<T>(panels_) + first / keys_of_a_block * block_size_);
    });
  }
  Zeros zeros() const { return zeros_; }
  kernels::GemmOperand<T> block(std::int64_t first_key) const {
    if (zeros_ == Zeros::strong) return rows_from(first_key);
    return {.data = panels_.values<T>().data() + first_key / keys_of_a_block * block_size_,
            .row_stride = 0,
            .packed = true};
  }

 private:
  kernels::GemmOperand<T> rows_from(std::int64_t first_key) const {
    kernels::GemmOperand<T> result = rows_;
    result.data += first_key * rows_.row_stride;
    return result;
  }

  Zeros zeros_;
  kernels::GemmOperand<T> rows_;
  std::int64_t block_size_;
  Tensor panels_;
};

/// Rows of a tile in a matrix of one head.
template <class T> Matrices<T> rows_of_tile(const Matrices<T>& head, const QueryTile& tile) {
  Matrices<T> result = head;
  result.data += tile.first * head.row_stride;
  return result;
}

/// out [queries, keys] = rows [queries, columns] x^T, for x [keys, columns].
template <class T>
void multiply_by_transposed(const QueryTile& tile, std::int64_t columns, const Matrices<const T>& rows,
                            const RightPanels<T>& x, T* out) {
  for_each_key_block(tile.keys, [&](std::int64_t first, std::int64_t count) {
    kernels::gemm<T>(x.zeros(), {tile.queries, count, columns}, {rows.data, rows.row_stride}, x.block(first),
                     {out + first, tile.keys});
  });
}
/// out [queries, columns] (+)= w [queries, keys] x, for x [keys, columns].
template <class T>
void multiply_weights(const QueryTile& tile, std::int64_t columns, const T* w, const RightPanels<T>& x,
                      const Matrices<T>& out, bool add) {
  for_each_key_block(tile.keys, [&](std::int64_t first, std::int64_t count) {
    kernels::gemm<T>(x.zeros(), {tile.queries, columns, count}, {w + first, tile.keys}, x.block(first),
                     {.data = out.data, .row_stride = out.row_stride, .accumulate = add || first > 0});
  });
}
/// out [keys, columns] += w^T rows, for w [queries, keys] and rows [queries, columns].
template <class T>
void add_transposed_weights(Zeros zeros, const QueryTile& tile, std::int64_t columns, const T* w,
                            const Matrices<const T>& rows, const Matrices<T>& out) {
  kernels::gemm<T>(zeros, {tile.keys, columns, tile.queries}, {w, tile.keys, true}, {rows.data, rows.row_stride},
                   {.data = out.data, .row_stride = out.row_stride, .accumulate = true});
}

/// w = softmax(scale q k^T + mask) of a tile of a head.
template <class T>
void weights_of_tile(const AttentionSizes& n, const HiddenKeys& hidden, const HeadGroup& head, const QueryTile& tile,
                     const Matrices<const T>& q, const RightPanels<T>& transposed_keys, T* w) {
  multiply_by_transposed(tile, n.features, rows_of_tile(q, tile), transposed_keys, w);
  weights_of_scores(n, hidden, head.first_item(n) * n.queries + tile.first, tile, w);
}

/// Room for the weights of the largest tile.
template <class T> Tensor weights_of_largest_tile(const AttentionSizes& n, const HiddenKeys& hidden) {
  std::int64_t largest = 0;
  for_each_query_tile(n, hidden, [&](const QueryTile& tile) { largest = std::max(largest, tile.queries * tile.keys); });
  return empty({largest}, dtype_of<T>);
}

/// y = softmax(scale q k^T + mask) v. A long head is a group of its own, and has one thread: the products of a tile
/// are too small to be shared.
template <class T>
void long_attention_forward(const AttentionSizes& n, const AttentionOperands<const T>& in, const HiddenKeys& hidden,
                            const Matrices<T>& y, Zeros zeros) {
  for_each_group(n, [&](const HeadGroup& head) {
    const ThreadsScope one_thread(1);
    const RightPanels<T> transposed_keys(Zeros::ordinary, n.keys, n.features, matrices_of(in.k, head), true);
    const RightPanels<T> values(zeros, n.keys, n.values, matrices_of(in.v, head), false);
    const Tensor room = weights_of_largest_tile<T>(n, hidden);
    T* w = OpAccess::values<T>(room);
    for_each_query_tile(n, hidden, [&](const QueryTile& tile) {
      weights_of_tile(n, hidden, head, tile, matrices_of(in.q, head), transposed_keys, w);
      multiply_weights(tile, n.values, w, values, rows_of_tile(matrices_of(y, head), tile), false);
    });
  });
}

/// dv += w^T dy, dq += ds k, dk += ds^T q, as large_heads_backward, but without weights and their gradient. Every tile
/// adds to the sums of the others, so the caller zeroes all three first, and add_* are ignored.
template <class T>
void long_attention_backward(const AttentionSizes& n, const AttentionGradient<T>& args, const HiddenKeys& hidden) {
  const bool wants_v = args.out.v.data != nullptr, wants_q = args.out.q.data != nullptr,
             wants_k = args.out.k.data != nullptr;
  for_each_group(n, [&](const HeadGroup& head) {
    const ThreadsScope one_thread(1);
    const Matrices<const T> q = matrices_of(args.in.q, head), k = matrices_of(args.in.k, head),
                            v = matrices_of(args.in.v, head), dy = matrices_of(args.dy, head);
    const Matrices<T> dq = matrices_of(args.out.q, head), dk = matrices_of(args.out.k, head),
                      dv = matrices_of(args.out.v, head);
    const RightPanels<T> transposed_keys(Zeros::ordinary, n.keys, n.features, k, true);
    std::optional<RightPanels<T>> transposed_values, keys;
    if (wants_q || wants_k) transposed_values.emplace(args.zeros, n.keys, n.values, v, true);
    if (wants_q) keys.emplace(args.zeros, n.keys, n.features, k, false);
    const Tensor room_for_w = weights_of_largest_tile<T>(n, hidden), room_for_ds = empty_like(room_for_w);
    T *w = OpAccess::values<T>(room_for_w), *ds = OpAccess::values<T>(room_for_ds);
    for_each_query_tile(n, hidden, [&](const QueryTile& tile) {
      const Matrices<const T> dy_of_tile = rows_of_tile(dy, tile);
      weights_of_tile(n, hidden, head, tile, q, transposed_keys, w);
      if (wants_v) add_transposed_weights(args.zeros, tile, n.values, w, dy_of_tile, dv);
      if (!wants_q && !wants_k) return;
      multiply_by_transposed(tile, n.values, dy_of_tile, *transposed_values, ds);
      kernels::run<T>(&kernels::KernelTable::softmax_gradient, plain::softmax_gradient<T>,
                      {w, ds, ds, tile.queries, tile.keys, static_cast<T>(n.scale)});
      if (wants_q) multiply_weights(tile, n.features, ds, *keys, rows_of_tile(dq, tile), true);
      if (wants_k) add_transposed_weights(args.zeros, tile, n.features, ds, rows_of_tile(q, tile), dk);
    });
  });
}

}  // namespace retrace

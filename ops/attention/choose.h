// Picks an implementation for attention's heads: in registers for small ones, in tiles for long ones whose weights
// nobody asked for, by matrix products for all others. Each has the same bits (of tiles see long.h). Types that have no
// kernels, dual numbers, take the plain loops of attention.cpp.
#pragma once

#include <retrace/ops/attention/head.h>
#include <retrace/ops/attention/long.h>
#include <retrace/ops/attention/mask.h>
#include <retrace/ops/loops/repetitions.h>

namespace retrace {

inline HeadSizes sizes_of_head(const AttentionSizes& n) { return {n.queries, n.keys, n.features, n.values}; }

/// Whether the kernels can compute such a head: a row of its weights fits into one vector.
template <class T> bool fits_in_registers(const AttentionSizes& n) {
  constexpr std::int64_t bytes = sizeof(T);
  return n.keys >= 1 && n.keys <= kernels::kernels_of<kernels::IsaTraits>().vector_bytes / bytes &&
         n.queries <= max_head_queries && n.features <= max_head_features && n.values <= max_head_features;
}

/// body(sample, head, first) for each head, over threads; its weights begin at `first`.
template <class Body> void for_each_head(const AttentionSizes& n, Body&& body) {
  const std::int64_t weights = n.queries * n.keys;
  for_each_head_in_turn(n, attention_grain / (weights + 1) + 1, [&](std::int64_t sample, std::int64_t head) {
    body(sample, head, (sample * n.heads + head) * weights);
  });
}

template <class T> HeadRows<T> rows_of(const Matrices<T>& all_heads, std::int64_t sample, std::int64_t head) {
  if (all_heads.data == nullptr) return {nullptr, 0};
  return {all_heads.of_head(head) + sample * all_heads.batch_stride, all_heads.row_stride};
}

/// Head by head: by the register kernels, or for other types by the plain loops, which alone know masks.
template <class T>
void single_heads_forward(const AttentionSizes& n, const AttentionOperands<const T>& in, const HiddenKeys& hidden,
                          T* weights, const Matrices<T>& y) {
  const Tensor mask = hidden.mask.defined() ? broadcast_to(hidden.mask, hidden.weights_shape) : Tensor();
  const T* of_all = mask.defined() ? mask.values<T>().data() : nullptr;
  for_each_head(n, [&](std::int64_t sample, std::int64_t head, std::int64_t first) {
    kernels::run<T>(&kernels::KernelTable::head_forward, plain::head_forward<T>,
                    {.n = sizes_of_head(n),
                     .q = rows_of(in.q, sample, head),
                     .k = rows_of(in.k, sample, head),
                     .v = rows_of(in.v, sample, head),
                     .weights = weights + first,
                     .y = rows_of(y, sample, head),
                     .scale = static_cast<T>(n.scale),
                     .causal = hidden.causal,
                     .mask = of_all == nullptr ? nullptr : of_all + first});
  });
}

template <class T> void single_heads_backward(const AttentionSizes& n, const AttentionGradient<T>& args) {
  for_each_head(n, [&](std::int64_t sample, std::int64_t head, std::int64_t first) {
    kernels::run<T>(&kernels::KernelTable::head_backward, plain::head_backward<T>,
                    {.n = sizes_of_head(n),
                     .q = rows_of(args.in.q, sample, head),
                     .k = rows_of(args.in.k, sample, head),
                     .v = rows_of(args.in.v, sample, head),
                     .dy = rows_of(args.dy, sample, head),
                     .weights = args.weights + first,
                     .dweights = args.dweights == nullptr ? nullptr : args.dweights + first,
                     .dq = rows_of(args.out.q, sample, head),
                     .dk = rows_of(args.out.k, sample, head),
                     .dv = rows_of(args.out.v, sample, head),
                     .scale = static_cast<T>(n.scale),
                     .dscores = args.dscores == nullptr ? nullptr : args.dscores + first,
                     .add_q = args.add_q,
                     .add_k = args.add_k || head % n.heads_per_key != 0,
                     .add_v = args.add_v || head % n.heads_per_key != 0});
  });
}

enum class AttentionWeights { asked_for, not_asked_for };

/// Whether an op of these sizes stores its weights. The plain loops always do, and a mask with a gradient needs them.
inline bool stores_weights(const AttentionSizes& n, AttentionWeights weights, const HiddenKeys& hidden, Dtype dtype) {
  return weights == AttentionWeights::asked_for || !is_long(n) || hidden.wants_gradient() || dtype == dual;
}

/// attention_forward of floats and doubles.
template <class T>
void run_forward(const AttentionSizes& n, const AttentionOperands<const T>& in, const HiddenKeys& hidden, Zeros zeros,
                 const Tensor& weights, const Matrices<T>& y) {
  if (!weights.defined()) return long_attention_forward(n, in, hidden, y, zeros);
  T* to = OpAccess::values<T>(weights);
  if (hidden.mask.defined() || !fits_in_registers<T>(n) || zeros == Zeros::strong)
    large_heads_forward(n, in, hidden, to, y, zeros);
  else
    single_heads_forward(n, in, hidden, to, y);
}

/// weights = softmax(scale q k^T + mask), y = weights v; y are the matrices of result.y. The weights are undefined
/// where they are not stored. Where keys are hidden, a result that is not finite is computed again with strong zeros.
/// Returns the zeros with which it was computed: ordinary ones mean finite weights, too.
template <class T>
Zeros attention_forward(const AttentionSizes& n, const AttentionOperands<const T>& in, const HiddenKeys& hidden,
                        const AttentionResult& result, const Matrices<T>& y) {
  if constexpr (std::is_floating_point_v<T>) {
    run_forward(n, in, hidden, Zeros::ordinary, result.weights, y);
    if (!hides_keys(n, hidden.causal, hidden.mask.defined()) ||
        kernels::are_finite(result.y.values<T>().data(), result.y.numel()))
      return Zeros::ordinary;
    run_forward(n, in, hidden, Zeros::strong, result.weights, y);
    return Zeros::strong;
  } else {
    single_heads_forward(n, in, hidden, OpAccess::values<T>(result.weights), y);
    return Zeros::strong;
  }
}

/// How a record of attention hides keys, and the zeros of its forward.
struct Hiding {
  bool causal, masked;
  Zeros zeros;
};

/// Whether the op stored its weights: they are then its second output and its last saved value, which else is the mask.
inline bool stored_weights(const Record& r) { return r.outputs() == 2; }

/// Where the gradient of input i goes.
template <class T> GradientSlot<T> attention_slot(Record& r, int i) {
  if (stored_weights(r)) return r.grad_in<T>(i, Begin::in_turn);
  return r.grad_in<T>(i, Begin::zeroed);  // tile after tile adds to it
}

/// Strong if keys are hidden and something of what is multiplied with weights and their gradients is not finite: dy, q
/// and k, or all three in one tensor.
template <class T> Zeros zeros_of_backward(const Record& r, const AttentionSizes& n, const Hiding& hiding) {
  if (!hides_keys(n, hiding.causal, hiding.masked)) return Zeros::ordinary;
  bool finite = hiding.zeros == Zeros::ordinary &&
                (r.grad_out<T>(0) == nullptr || kernels::are_finite(r.grad_out<T>(0), r.out(0).numel()));
  for (int k = 0; k < std::min(r.saved_values() - 1, 2) && finite; ++k)
    finite = kernels::are_finite(r.saved(k).values<T>(), r.saved(k).numel());
  return finite ? Zeros::ordinary : Zeros::strong;
}

/// Whether the mask wants a gradient: it is then the input of the record after `operands` others.
inline bool wants_mask(const Record& r, int operands) { return r.inputs() > operands && r.wants(operands); }

/// The gradients that `args` asks for; the weights and what came to them are in the record.
template <class T>
void gradients_of_operands(const Record& r, const AttentionSizes& n, AttentionGradient<T> args, const Hiding& hiding) {
  const SavedValue& last = r.saved(r.saved_values() - 1);
  if (stored_weights(r)) {
    args.weights = last.values<T>();
    args.dweights = r.grad_out<T>(1);
  }
  if constexpr (std::is_floating_point_v<T>) {
    args.zeros = zeros_of_backward<T>(r, n, hiding);
    if (!stored_weights(r)) {
      const Shape shape = attention_weights_shape(r.out(0).shape, n.keys, static_cast<int>(n.heads));
      return long_attention_backward(n, args, {hiding.causal, last ? last.tensor() : Tensor(), shape});
    }
    if (!fits_in_registers<T>(n) || args.zeros == Zeros::strong || args.dscores != nullptr)
      return large_heads_backward(n, args);
  }
  single_heads_backward(n, args);
}

/// gradients_of_operands, and that of the mask if it wants one: ds / scale, summed over what the mask was repeated for.
template <class T>
void attention_backward(Record& r, const AttentionSizes& n, AttentionGradient<T> args, const Hiding& hiding,
                        int operands) {
  if (!wants_mask(r, operands)) return gradients_of_operands(r, n, args, hiding);
  const Shape& shape = r.out(1).shape;
  const Tensor room = empty(shape, dtype_of<T>);
  args.dscores = OpAccess::values<T>(room);
  gradients_of_operands(r, n, args, hiding);
  add_repetitions<T>(shape, args.dscores, r.in(operands).shape, r.grad_in<T>(operands, Begin::zeroed).values);
}

}  // namespace retrace

// Shared by the recurrent layers.
#pragma once

#include <retrace/nn/layers/initialise.h>
#include <retrace/ops/ops.h>

namespace retrace {

/// The shape [H, I] of one gate's rows in weight_ih [gates H, I]. Throws ShapeError if a size is negative or overflows,
/// MemoryError if weight_ih or weight_hh [gates H, H] is larger than this machine's memory; both name the layer.
inline Shape gate_shape(const char* layer, std::int64_t gates, std::int64_t input, std::int64_t hidden) {
  const std::int64_t rows = checked_product(layer, "the rows of its weights", {gates, hidden});
  parameter_shape(layer, "weight_ih", {rows, input});
  parameter_shape(layer, "weight_hh", {rows, hidden});
  return {hidden, input};
}

/// x[:, t] of x [B, T, F]: [B, F].
inline Tensor at_step(const Tensor& x, std::int64_t t) { return slice(x, {all, t}); }

/// Throws ShapeError unless `count` is from 1 to T, for x [B, T, F].
inline void check_last_steps(const Tensor& x, std::int64_t count) {
  if (count < 1 || count > x.dim(1))
    throw ShapeError(text("last_steps: ", count, " steps of ", x, " were asked for; ask for 1 to ", x.dim(1)));
}

/// The last `count` steps of x [B, T, F]: [B, count, F]. Throws ShapeError unless count is from 1 to T.
inline Tensor last_steps(const Tensor& x, std::int64_t count) {
  check_defined("last_steps", x, "x");
  check_last_steps(x, count);
  return count == x.dim(1) ? x : slice(x, {all, range(x.dim(1) - count, x.dim(1))});
}

/// The state of each sample after step t: `next` [B, ...] where the sample has such a step, t < lengths[b], else
/// `before`. So a memory that reads padded sequences step by step keeps what it had at a sample's own end:
///   for (...) memory = state_after(t, lengths, core(memory, at_step(x, t)).memory, memory);
/// Undefined lengths [B] (i64): all have such a step. Throws ShapeError or DtypeError if lengths is anything else.
Tensor state_after(std::int64_t t, const Tensor& lengths, const Tensor& next, const Tensor& before);

/// Throws ShapeError unless x is [B, T, features] (or [B, features] for a cell).
inline void check_input(const char* layer, const Tensor& x, int rank, std::int64_t features) {
  check_defined(layer, x, "x");
  if (x.rank() != rank || x.dim(-1) != features)
    throw ShapeError(text(layer, ": the input ", x, " must be ", rank == 3 ? "[batch, time, " : "[batch, ", features,
                          "]; transpose or reshape it"));
}

/// Throws ShapeError unless a state is [batch, hidden].
inline void check_state(const char* layer, const char* role, const Tensor& state, std::int64_t batch,
                        std::int64_t hidden) {
  check_defined(layer, state, role);
  if (state.shape() != Shape{batch, hidden})
    throw ShapeError(text(layer, ": the state ", role, state.shape(), " must be [", batch, ", ", hidden,
                          "], batch first; transpose or reshape it"));
}

}  // namespace retrace

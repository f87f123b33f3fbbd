#include <retrace/nn/memory/relational_memory.h>

#include <cmath>

namespace retrace {
namespace {

Tensor normal_matrix(std::int64_t rows, std::int64_t columns, double variance, Random& random) {
  return random.normal({rows, columns}, 0, std::sqrt(variance));
}

std::int64_t checked_size(std::int64_t input_size, const RelationalMemoryOptions& options) {
  if (options.slots < 1 || options.heads < 1 || options.slot_size % options.heads != 0)
    throw ShapeError(text("RelationalMemory: ", options.slots, " slots of ", options.slot_size, " with ", options.heads,
                          " heads; at least one slot, and heads that divide its size, are needed"));
  const std::int64_t size = options.slot_size;
  parameter_shape("RelationalMemory", "w_q", {size, size});
  parameter_shape("RelationalMemory", "w_gate", {checked_product("RelationalMemory", "2 slot_size", {2, size}), size});
  if (options.input != MemoryInput::none) parameter_shape("RelationalMemory", "w_input", {input_size, size});
  return size;
}

}  // namespace

Tensor gated_update(const Tensor& old, const Tensor& next, const Tensor& weight) {
  check_defined("gated_update", old, "old");
  check_defined("gated_update", next, "next");
  if (old.shape() != next.shape())
    throw ShapeError(
        text("gated_update: old", old.shape(), " and next", next.shape(), " must have one shape; reshape one"));
  if (!weight.defined()) return next;
  const Tensor g = sigmoid(matmul(concat({old, next}, -1), weight));
  const Tensor taken = g * next, kept = (1 - g) * old;
  return taken + kept;
}

Tensor init_memory(std::int64_t batch, std::int64_t slots, std::int64_t size, Random& random, double deviation) {
  return random.normal({batch, slots, size}, 0, deviation);
}

RelationalMemory::RelationalMemory(std::int64_t input_size, Random& random, const RelationalMemoryOptions& memory)
    : w_q(normal_matrix(checked_size(input_size, memory), memory.slot_size, 1 / static_cast<double>(memory.slot_size),
                        random)),
      w_k(normal_matrix(memory.slot_size, memory.slot_size, 1 / static_cast<double>(memory.slot_size), random)),
      w_v(normal_matrix(memory.slot_size, memory.slot_size, 1 / static_cast<double>(memory.slot_size), random)),
      w_o(normal_matrix(memory.slot_size, memory.slot_size, 1 / static_cast<double>(memory.slot_size), random)),
      norm(memory.slot_size, memory.eps),
      options(memory) {
  const std::int64_t size = options.slot_size;
  const double of_two_slots = 2.0 / static_cast<double>(3 * size);
  if (options.input != MemoryInput::none) {
    if (input_size != size)
      w_input.emplace(normal_matrix(input_size, size, 2.0 / static_cast<double>(input_size + size), random));
    if (options.input == MemoryInput::combination)
      w_combine.emplace(normal_matrix(2 * size, size, of_two_slots, random));
    else
      cross.emplace(size, random, MultiHeadAttentionOptions{.heads = options.heads});
    input_norm.emplace(size, options.eps);
  }
  if (options.gate) w_gate.emplace(normal_matrix(2 * size, size, of_two_slots, random));
}

RelationalMemoryResult RelationalMemory::operator()(const Tensor& memory, const Tensor& x) const {
  const Scope scope(this, "relational_memory");
  check_defined("RelationalMemory", memory, "memory");
  if (memory.rank() != 3 || memory.dim(1) != options.slots || memory.dim(2) != options.slot_size)
    throw ShapeError(text("RelationalMemory: the memory ", memory.shape(), " must be [batch, ", options.slots, ", ",
                          options.slot_size, "]; begin with reset_memory(batch, random)"));
  const AttentionResult attended = multi_head_attention(memory, memory, memory, options.heads, w_q, w_k, w_v, w_o);
  Tensor slots = intermediate("slots", norm(memory, attended.y));
  if (x.defined() && input_norm) slots = take_in(slots, x);
  if (!w_gate) return {slots, attended.weights, {}};
  const Tensor gates = intermediate("gates", sigmoid(matmul(concat({memory, slots}, -1), *w_gate)));
  const Tensor taken = gates * slots, kept = (1 - gates) * memory;
  return {intermediate("memory", taken + kept), attended.weights, gates};
}

Tensor RelationalMemory::take_in(const Tensor& slots, const Tensor& x) const {
  const std::int64_t features = w_input ? w_input->dim(0) : options.slot_size;
  const bool rows = cross && x.rank() == 3;
  if ((x.rank() != 2 && !rows) || x.dim(0) != slots.dim(0) || x.dim(-1) != features)
    throw ShapeError(
        text("RelationalMemory: the input ", x, " must be [", slots.dim(0), ", ", features, "]; reshape it"));
  const Tensor u = w_input ? matmul(x, *w_input) : Tensor(x);
  if (cross) {
    const Tensor seen = rows ? u : unsqueeze(u, 1);
    return (*input_norm)(slots, (*cross)(slots, seen, seen).y);
  }
  const Tensor of_each_slot = broadcast_to(unsqueeze(u, 1), slots.shape());
  return (*input_norm)(slots + matmul(concat({slots, of_each_slot}, -1), *w_combine));
}

Tensor RelationalMemory::reset_memory(std::int64_t batch, Random& random, double deviation) const {
  const DtypeScope scope(w_q.dtype());
  return init_memory(batch, options.slots, options.slot_size, random, deviation);
}

}  // namespace retrace

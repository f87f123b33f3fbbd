#include <retrace/nn/memory/cell_memory.h>

#include <cmath>

namespace retrace {
namespace {

Tensor attention_weight(std::int64_t size, Random& random) {
  return random.normal({size, size}, 0, 1 / std::sqrt(static_cast<double>(size)));
}

std::optional<Linear> gate_of(std::int64_t input_size, Random& random, const CellMemoryOptions& options) {
  if (!options.gate) return std::nullopt;
  return Linear(options.slot_size + input_size, options.slot_size, random);
}

std::int64_t checked_size(std::int64_t input_size, const CellMemoryOptions& options) {
  if (options.slots < 1 || options.heads < 1 || options.slot_size % options.heads != 0)
    throw ShapeError(text("CellMemory: ", options.slots, " slots of ", options.slot_size, " with ", options.heads,
                          " heads; at least one slot, and heads that divide its size, are needed"));
  const std::int64_t size = options.slot_size;
  parameter_shape("CellMemory", "w_q", {size, size});
  if (input_size != size) parameter_shape("CellMemory", "input.weight", {size, input_size});
  if (options.gate)
    parameter_shape("CellMemory", "gate.weight",
                    {size, checked_sum("CellMemory", "slot_size + input_size", {size, input_size})});
  return size;
}

}  // namespace

CellMemory::CellMemory(std::int64_t input_size, Random& random, const CellMemoryOptions& memory)
    : w_q(attention_weight(checked_size(input_size, memory), random)),
      w_k(attention_weight(memory.slot_size, random)),
      w_v(attention_weight(memory.slot_size, random)),
      w_o(attention_weight(memory.slot_size, random)),
      gate(gate_of(input_size, random, memory)),
      update(memory.slot_size, memory.slot_size, random),
      options(memory) {
  if (input_size != memory.slot_size) input.emplace(input_size, memory.slot_size, random);
}

void CellMemory::check_memory(const Tensor& memory) const {
  check_defined("CellMemory", memory, "memory");
  if (memory.rank() != 3 || memory.dim(1) != options.slots || memory.dim(2) != options.slot_size)
    throw ShapeError(text("CellMemory: the memory ", memory.shape(), " must be [batch, ", options.slots, ", ",
                          options.slot_size, "]; begin with initial_memory(batch)"));
}

CellMemoryResult CellMemory::operator()(const Tensor& memory, const Tensor& x) const {
  const Scope scope(this, "cell_memory");
  check_memory(memory);
  if (!x.defined()) {
    const AttentionResult attended = attend(memory);
    if (!gate) return {update(attended.y, Activation::tanh), attended.weights, {}};
    const Tensor half = full(memory.shape(), 0.5, memory.dtype());
    const Tensor taken = half * update(attended.y, Activation::tanh), kept = half * memory;
    return {taken + kept, attended.weights, half};
  }
  const Shape expected{memory.dim(0), input_size()};
  if (x.shape() != expected)
    throw ShapeError(text("CellMemory: the input ", x.shape(), " must be ", expected, "; reshape it"));
  return step(memory, project(x));
}

ProjectedInput CellMemory::project(const Tensor& x) const {
  const Scope scope(this, "cell_memory");
  check_defined("CellMemory", x, "x");
  const std::int64_t size = options.slot_size;
  const Tensor injected = input ? (*input)(x) : x;
  if (!gate) return {injected, {}, {}};
  const Tensor weight_of_x = slice(gate->weight, {all, range(size, size + input_size())});
  return {injected, linear(x, weight_of_x, *gate->bias), slice(gate->weight, {all, range(0, size)})};
}

CellMemoryResult CellMemory::step(const Tensor& memory, const ProjectedInput& x) const {
  const Scope scope(this, "cell_memory");
  check_memory(memory);
  check_defined("CellMemory", x.injected, "the projected input");
  if (x.injected.shape() != Shape{memory.dim(0), options.slot_size})
    throw ShapeError(text("CellMemory: the projected input ", x.injected.shape(), " must be [", memory.dim(0), ", ",
                          options.slot_size, "]; project one input per memory"));
  const AttentionResult attended = attend(memory);
  const Tensor a = attended.y + pad(unsqueeze(x.injected, 1), {{0, 0}, {0, options.slots - 1}, {0, 0}});
  if (!gate) return {update(a, Activation::tanh), attended.weights, {}};
  const Tensor gates = linear(a, x.gate_of_slots), candidate = update(a);
  const GatedMemoryResult next = gated_memory(memory, candidate, gates, x.gate, {.coupled = true});
  return {next.memory, attended.weights, next.input_gate};
}

AttentionResult CellMemory::attend(const Tensor& memory) const {
  // Without their row of the identity the slots would become equal again, because the gates forget it.
  const Tensor slots = options.initial == InitialMemory::zeros ? memory : memory + initial_memory(1);
  return multi_head_attention(slots, slots, slots, options.heads, w_q, w_k, w_v, w_o);
}

Tensor CellMemory::initial_memory(std::int64_t batch) const {
  const Dtype dtype = w_q.dtype();
  const Shape shape{batch, options.slots, options.slot_size};
  if (options.initial == InitialMemory::zeros) return zeros(shape, dtype);
  return broadcast_to(eye(options.slots, options.slot_size, dtype), shape);
}

}  // namespace retrace

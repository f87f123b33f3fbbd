#include <retrace/nn/memory/notebook_memory.h>

namespace retrace {
namespace {

constexpr double initial_deviation = 0.1;

Tensor attention_weight(const NotebookMemoryOptions& options, Random& random) {
  if (options.slots < 1 || options.heads < 1 || options.slot_size % options.heads != 0)
    throw ShapeError(text("NotebookMemory: ", options.slots, " slots of ", options.slot_size, " with ", options.heads,
                          " heads; at least one slot, and heads that divide its size, are needed"));
  const Shape shape = parameter_shape("NotebookMemory", "w_q", {options.slot_size, options.slot_size});
  return random.normal(shape, 0, initial_deviation);
}

}  // namespace

NotebookMemory::NotebookMemory(Random& random, const NotebookMemoryOptions& memory)
    : w_q(attention_weight(memory, random)),
      w_k(attention_weight(memory, random)),
      w_v(attention_weight(memory, random)),
      w_o(attention_weight(memory, random)),
      mlp_hidden(memory.slot_size, 2 * memory.slot_size, random),
      mlp_out(2 * memory.slot_size, memory.slot_size, random),
      input_gate(memory.slot_size, memory.slot_size, random),
      forget_gate(memory.slot_size, memory.slot_size, random),
      output_gate(memory.slot_size, memory.slot_size, random),
      options(memory) {}

NotebookMemoryResult NotebookMemory::operator()(const Tensor& memory, const Tensor& x) const {
  const Scope scope(this, "notebook_memory");
  check_defined("NotebookMemory", memory, "memory");
  check_defined("NotebookMemory", x, "x");
  const std::int64_t slots = options.slots, size = options.slot_size;
  if (memory.rank() != 3 || memory.dim(1) != slots || memory.dim(2) != size || x.shape() != Shape{memory.dim(0), size})
    throw ShapeError(text("NotebookMemory: the memory ", memory.shape(), " and the input ", x.shape(),
                          " must be [batch, ", slots, ", ", size, "] and [batch, ", size, "]; reshape them"));
  const Tensor rows = concat({memory, unsqueeze(x, 1)}, 1);
  const AttentionResult attended = multi_head_attention(rows, rows, rows, options.heads, w_q, w_k, w_v, w_o);
  const Tensor m = mlp_out(mlp_hidden(attended.y + rows, Activation::relu));
  const Tensor candidate = slice(m, {all, range(0, slots)});
  const auto gate = [&](const Linear& layer) { return layer(candidate, Activation::sigmoid); };
  const Tensor i = gate(input_gate), f = gate(forget_gate), o = gate(output_gate);
  const Tensor kept = f * memory, taken = i * tanh(candidate);
  return {o * tanh(kept + taken), slice(m, {all, slots}), attended.weights, i, f, o};
}

}  // namespace retrace

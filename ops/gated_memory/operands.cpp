#include <retrace/ops/gated_memory/operands.h>

namespace retrace {

void check(const GatedMemoryOperands& in, bool coupled) {
  const char* name = "gated_memory";
  check_defined(name, {{&in.memory, "memory"},
                       {&in.candidate, "candidate"},
                       {&in.of_memory, "gates_of_memory"},
                       {&in.of_input, "gates_of_input"}});
  const Tensor &m = in.memory, &p = in.of_memory;
  const auto operands = [&] {
    return text(name, ": ", describe_operand("memory", m), ", ", describe_operand("candidate", in.candidate), ", ",
                describe_operand("gates_of_memory", p), " and ", describe_operand("gates_of_input", in.of_input));
  };
  const Shape& c = in.candidate.shape();
  const int slot_axis = m.rank() - 2;
  if (slot_axis < 0 || c.rank() != m.rank() || c[slot_axis] < m.dim(slot_axis) ||
      c.replaced(slot_axis, m.dim(slot_axis)) != m.shape())
    throw ShapeError(text(operands(),
                          ": memory and candidate must be [..., slots, units], the candidate with as many "
                          "slots or more; reshape them"));
  const std::int64_t both = coupled ? 1 : 2, of_units = both * m.dim(-1), last = p.rank() == 0 ? 0 : p.dim(-1);
  if (p.rank() != m.rank() || p.shape().first(p.rank() - 1) != m.shape().first(m.rank() - 1) ||
      (last != of_units && last != both))
    throw ShapeError(text(operands(), ": the gates of the memory must be [..., slots, ", of_units,
                          "], or [..., slots, ", both, "] for ", both, " a slot; reshape them"));
  const Shape of_input = p.shape().erased(p.rank() - 2);
  if (in.of_input.shape() != of_input)
    throw ShapeError(text(operands(), ": the gates of the input must be ", of_input, ", the same for every slot"));
  const auto check_bias = [&](const char* role, const Tensor& bias) {
    if (bias.defined() && bias.numel() != 1)
      throw ShapeError(text(operands(), ": ", describe_operand(role, bias), " must be one number"));
  };
  check_bias("input_bias", in.input_bias), check_bias("forget_bias", in.forget_bias);
  if (coupled && in.forget_bias.defined())
    throw ValueError("gated_memory: a coupled forget gate is 1 - i and has no bias; leave forget_bias out");
  check_real(name, m, "memory");
}

GatedMemoryResult composed(GatedMemoryOperands in, bool coupled) {
  const std::int64_t slots = in.memory.dim(-2);
  if (in.candidate.dim(-2) > slots) in.candidate = split(in.candidate, {slots, in.candidate.dim(-2) - slots}, -2)[0];
  const Tensor z = in.of_memory + unsqueeze(in.of_input, -2);
  const int axis = z.rank() - 1;
  const auto biased = [](const Tensor& gate, const Tensor& bias) { return bias.defined() ? gate + bias : gate; };
  if (coupled) {
    const Tensor i = intermediate("i", sigmoid(biased(z, in.input_bias)));
    return {intermediate("memory", in.memory + i * (tanh(in.candidate) - in.memory)), i, {}};
  }
  const std::int64_t size = z.dim(axis) / 2;
  const Tensors halves = split(z, {size, size}, axis);
  const Tensor i = intermediate("i", sigmoid(biased(halves[0], in.input_bias)));
  const Tensor f = intermediate("f", sigmoid(biased(halves[1], in.forget_bias)));
  const Tensor taken = i * tanh(in.candidate), kept = f * in.memory;
  return {intermediate("memory", taken + kept), i, f};
}

}  // namespace retrace

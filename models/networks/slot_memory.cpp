#include <retrace/models/networks/slot_memory.h>

#include <retrace/nn/layers/recurrent.h>

namespace retrace {
namespace {

using AnyMemory = std::variant<CellMemory, RelationalMemory, NotebookMemory>;

AnyMemory make_memory(std::int64_t input_size, Random& random, const SlotMemoryOptions& options) {
  switch (options.kind) {
    case MemoryKind::relational:
      return AnyMemory(
          std::in_place_type<RelationalMemory>, input_size, random,
          RelationalMemoryOptions{
              .slots = options.slots, .slot_size = options.slot_size, .heads = options.heads, .gate = options.gate});
    case MemoryKind::notebook:
      return AnyMemory(
          std::in_place_type<NotebookMemory>, random,
          NotebookMemoryOptions{.slots = options.slots, .slot_size = options.slot_size, .heads = options.heads});
    case MemoryKind::cell:
      break;
  }
  return AnyMemory(std::in_place_type<CellMemory>, input_size, random,
                   CellMemoryOptions{.slots = options.slots,
                                     .slot_size = options.slot_size,
                                     .heads = options.heads,
                                     .initial = options.initial,
                                     .gate = options.gate});
}

using Gates = std::vector<std::pair<std::string_view, Tensor>>;

Gates gates_of(const CellMemoryResult& step) { return {{"update", step.gates}}; }
Gates gates_of(const RelationalMemoryResult& step) { return {{"update", step.gates}}; }
Gates gates_of(const NotebookMemoryResult& step) {
  return {{"input", step.input_gate}, {"forget", step.forget_gate}, {"output", step.output_gate}};
}

}  // namespace

SlotMemory::SlotMemory(std::int64_t input_size, Random& random, const SlotMemoryOptions& slot_memory)
    : memory(make_memory(input_size, random, slot_memory)), options(slot_memory) {
  if (options.kind == MemoryKind::notebook && input_size != options.slot_size)
    input.emplace(input_size, options.slot_size, random);
}

Tensor SlotMemory::operator()(const Tensor& slots, const Tensor& x) const {
  const Tensor taken_in = input ? (*input)(x) : x;
  return std::visit([&](const auto& kind) { return kind(slots, taken_in).memory; }, memory);
}

Tensor SlotMemory::initial_memory(std::int64_t batch) const {
  const Dtype dtype = std::visit([](const auto& kind) { return kind.w_q.dtype(); }, memory);
  const Shape shape{batch, options.slots, options.slot_size};
  if (options.initial == InitialMemory::zeros) return zeros(shape, dtype);
  return broadcast_to(eye(options.slots, options.slot_size, dtype), shape);
}

MemoryTrace SlotMemory::trace(const Tensor& x) const {
  const Tensor taken_in = input ? (*input)(x) : x;
  MemoryTrace trace;
  trace.memory.push_back(initial_memory(x.dim(0)));
  const auto follow = [&](const auto& kind) {
    for (std::int64_t t = 0; t < x.dim(1); ++t) {
      const auto step = kind(trace.memory.back(), at_step(taken_in, t));
      trace.add(step.memory, step.weights);
      for (const auto& [name, values] : gates_of(step)) trace.add_gate(name, values);
    }
  };
  std::visit(follow, memory);
  return trace;
}

MemoryOverTime::MemoryOverTime(const SlotMemory& memory, const Tensor& x, const Tensor& slots)
    : memory_(memory), x_(x), slots_(slots.defined() ? slots : memory.initial_memory(x.dim(0))) {
  if (const CellMemory* cell = std::get_if<CellMemory>(&memory.memory)) projected_ = cell->project(x);
}

const Tensor& MemoryOverTime::step(std::int64_t t) {
  if (const CellMemory* cell = std::get_if<CellMemory>(&memory_.memory)) {
    const Tensor gate = projected_.gate.defined() ? at_step(projected_.gate, t) : Tensor();
    const ProjectedInput now{at_step(projected_.injected, t), gate, projected_.gate_of_slots};
    slots_ = cell->step(slots_, now).memory;
  } else {
    slots_ = memory_(slots_, at_step(x_, t));
  }
  return slots_;
}

}  // namespace retrace

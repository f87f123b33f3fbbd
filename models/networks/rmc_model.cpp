#include <retrace/models/networks/rmc_model.h>

#include <retrace/nn/layers/recurrent.h>

namespace retrace {

RmcModel::RmcModel(const RmcModelOptions& options, Random& random) : core(options.input, random, options.core) {
  std::int64_t size = checked_product("RmcModel", "slots x slot size", {options.core.slots, core.slot_size()});
  if (options.output == 0) return;
  for (int layer = 0; layer < options.head_layers; ++layer) {
    head.emplace_back(size, options.head_size, random);
    size = options.head_size;
  }
  head.emplace_back(size, options.output, random);
}

Tensor RmcModel::operator()(const Tensor& x, Random* random) const {
  const Tensor y = answers(x, 1, random);
  return reshape(y, {y.dim(0), y.dim(2)});
}

Tensor RmcModel::answers(const Tensor& x, std::int64_t count, Random* random) const {
  return run(x, {}, count, random).answers;
}

Continued RmcModel::continued(const Tensor& x, const SequenceState& state, Random* random) const {
  check_input("RmcModel", x, 3, core.input.weight.dim(1));
  return run(x, state, x.dim(1), random);
}

Continued RmcModel::run(const Tensor& x, const SequenceState& state, std::int64_t count, Random* random) const {
  const Scope scope(this, "rmc_model");
  check_input("RmcModel", x, 3, core.input.weight.dim(1));
  check_last_steps(x, count);
  const RelationalMemoryCore::Projected projected = core.project(x);  // of all steps
  Tensor memory = state.take(1)[0];
  if (!memory.defined()) memory = core.initial_memory(x.dim(0));
  Tensors memories;
  for (std::int64_t t = 0; t < x.dim(1); ++t) {
    const Tensor gate = projected.gate.defined() ? at_step(projected.gate, t) : Tensor();
    memory = core.step(memory, {at_step(projected.rows, t), gate}, random).memory;
    if (t >= x.dim(1) - count) memories.push_back(reshape(memory, {x.dim(0), memory.dim(1) * memory.dim(2)}));
  }
  return {answer(stack(memories, 1), random), {{memory}}};
}

Tensor RmcModel::answer(const Tensor& memories, Random* random) const {
  if (head.empty()) return memories;
  const double dropped = core.options.dropout;
  Tensor y = memories;
  for (std::size_t layer = 0; layer + 1 < head.size(); ++layer) {
    y = head[layer](y, Activation::relu);
    if (dropped > 0) y = dropout(y, dropped, random);
  }
  return head.back()(y);
}

StatesOverTime RmcModel::states(const Tensor& x) const {
  check_input("RmcModel", x, 3, core.input.weight.dim(1));
  return memory_over_time(*this, x);
}

MemoryTrace RmcModel::trace(const Tensor& x) const {
  check_input("RmcModel", x, 3, core.input.weight.dim(1));
  MemoryTrace trace;
  trace.memory.push_back(core.initial_memory(x.dim(0)));
  for (std::int64_t t = 0; t < x.dim(1); ++t) {
    const RelationalMemoryCoreResult step = core(trace.memory.back(), at_step(x, t));
    trace.add(step.memory, step.weights);
    trace.add_gate("input", step.input_gate);
    trace.add_gate("forget", step.forget_gate);
  }
  return trace;
}

}  // namespace retrace

// The relational memory core, alone and trained.
#include <retrace/tests/golden_test/relational_modules.h>

namespace retrace::golden {
namespace {

const char* const block_prefix = "blk";

/// A Linear of W [in, out] and b.
Linear right_linear(const Arguments& c, const std::string& weight, const std::string& bias) {
  return make_linear(transpose(c[weight]), c[bias]);
}

LayerNorm make_layer_norm(const Arguments& c, const std::string& prefix, double eps) {
  const Tensor& gamma = c[prefix + "_gamma"];
  LayerNorm result(gamma.dim(0), eps);
  place(result.weight, gamma);
  place(result.bias, c[prefix + "_beta"]);
  return result;
}

MemoryGate gate_named(const std::string& name) {
  if (name == "unit") return MemoryGate::unit;
  if (name == "memory") return MemoryGate::memory;
  if (name == "none") return MemoryGate::none;
  throw Unsupported("no gate " + name);
}

Tensors final_states(const RelationalMemoryCore& core, Tensor memory, const Tensor& x) {
  const std::int64_t batch = memory.dim(0);
  Tensors outputs;
  for (std::int64_t t = 0; t < x.dim(1); ++t) {
    memory = core(memory, slice(x, {all, t})).memory;
    outputs.push_back(reshape(memory, {batch, memory.dim(1) * memory.dim(2)}));
  }
  outputs.push_back(memory);
  return outputs;
}

NamedTensors run_core(const Arguments& c) {
  const Tensor& x = c["x"];
  const std::int64_t rows = c.flag("matrix_input") ? x.dim(2) : 1;
  const RelationalMemoryCore core = make_memory_core(c, c["M0"].dim(1), rows);
  Tensors states = final_states(core, c["M0"], x);
  const Tensor last = states.back();
  states.pop_back();
  return {{"y", stack(states, 1)}, {"MT", last}};
}

NamedTensors run_initial(const Arguments& c) {
  Random random;
  const DtypeScope scope(c.dtype());
  const RelationalMemoryCore core(1, random, {.slots = c.integer("slots"), .head_size = c.integer("size"), .heads = 1});
  return {{"M0", core.initial_memory(c.integer("batch"))}};
}

}  // namespace

RelationalMemoryCore make_memory_core(const Arguments& c, std::int64_t slots, std::int64_t input_rows) {
  const double eps = c.has_attribute("optimiser") ? 1e-5 : c.number("eps");  // there it is the optimiser's
  Random random;
  const DtypeScope scope(c.dtype());
  RelationalMemoryCore core(c["W_in"].dim(0), random,
                            {.slots = slots,
                             .head_size = c.integer("head_size"),
                             .heads = static_cast<int>(c.integer("heads")),
                             .key_size = c.integer("key_size"),
                             .blocks = static_cast<int>(c.integer("blocks")),
                             .mlp_layers = static_cast<int>(c.integer("mlp_layers")),
                             .gate = gate_named(c.attribute("gate")),
                             .forget_bias = c.number("forget_bias"),
                             .input_bias = c.number("input_bias"),
                             .eps = eps,
                             .input_rows = input_rows});
  core.input = right_linear(c, "W_in", "b_in");
  for (std::size_t k = 0; k < core.blocks.size(); ++k) {
    const std::string prefix = block_prefix + std::to_string(k) + "_";
    RelationalMemoryBlock& block = core.blocks[k];
    block.qkv = right_linear(c, prefix + "W_qkv", prefix + "b_qkv");
    block.qkv_norm = make_layer_norm(c, prefix + "qkv", eps);
    block.attention_norm = make_layer_norm(c, prefix + "ln1", eps);
    block.mlp_norm = make_layer_norm(c, prefix + "ln2", eps);
  }
  for (std::size_t k = 0; k < core.mlp.size(); ++k)
    core.mlp[k] = right_linear(c, "W_mlp" + std::to_string(k), "b_mlp" + std::to_string(k));
  if (core.gate_of_input) {
    core.gate_of_input = right_linear(c, "W_gate_in", "b_gate_in");
    core.gate_of_memory = right_linear(c, "W_gate_mem", "b_gate_mem");
  }
  return core;
}

Adapters memory_core_adapters() { return {{"rmc", run_core}, {"rmc_initial", run_initial}}; }

}  // namespace retrace::golden

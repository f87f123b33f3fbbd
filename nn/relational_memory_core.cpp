#include <retrace/nn/relational_memory_core.h>

#include <cmath>
#include <limits>

namespace retrace {
namespace {

std::int64_t key_size(const RelationalMemoryCoreOptions& options) {
  return options.key_size == 0 ? options.head_size : options.key_size;
}

Linear truncated_normal_linear(std::int64_t in, std::int64_t out, Random& random) {
  Linear result(in, out, random);
  copy_values(truncated_normal({out, in}, 1 / std::sqrt(static_cast<double>(in)), random), result.weight);
  return result;
}

const RelationalMemoryCoreOptions& checked(const RelationalMemoryCoreOptions& options) {
  const auto positive = [](std::int64_t value, const char* name) {
    if (value < 1) throw ValueError(text("RelationalMemoryCore: ", name, " is ", value, "; it has to be 1 or more"));
  };
  positive(options.slots, "slots"), positive(options.head_size, "head_size"), positive(options.heads, "heads");
  positive(options.blocks, "blocks"), positive(options.mlp_layers, "mlp_layers");
  positive(options.input_rows, "input_rows");
  if (options.key_size < 0)
    throw ValueError(text("RelationalMemoryCore: key_size is ", options.key_size, "; give 0 for that of the heads, or more"));
  return options;
}

std::int64_t checked_input(std::int64_t size) {
  if (size < 1) throw ValueError(text("RelationalMemoryCore: the input has ", size, " features; it needs 1 or more"));
  return size;
}

/// The first rows of x [B, L, S].
Tensor first_rows(const Tensor& x, std::int64_t count) {
  return x.dim(1) == count ? x : slice(x, {all, range(0, count)});
}

}  // namespace

RelationalMemoryBlock::RelationalMemoryBlock(const RelationalMemoryCoreOptions& options, Random& random)
    : qkv(truncated_normal_linear(options.heads * options.head_size,
                                  options.heads * (2 * key_size(options) + options.head_size), random)),
      qkv_norm(qkv.weight.dim(0), options.eps),
      attention_norm(qkv.weight.dim(1), options.eps),
      mlp_norm(qkv.weight.dim(1), options.eps) {}

RelationalMemoryCore::RelationalMemoryCore(std::int64_t input_size, Random& random,
                                           const RelationalMemoryCoreOptions& core)
    : input(truncated_normal_linear(checked_input(input_size), checked(core).heads * core.head_size, random)), options(core) {
  const std::int64_t size = slot_size();
  for (int k = 0; k < options.blocks; ++k) blocks.emplace_back(options, random);
  for (int k = 0; k < options.mlp_layers; ++k) mlp.push_back(truncated_normal_linear(size, size, random));
  if (options.gate == MemoryGate::none) return;
  const std::int64_t gates = options.gate == MemoryGate::unit ? 2 * size : 2;
  gate_of_input.emplace(truncated_normal_linear(options.input_rows * size, gates, random));
  gate_of_memory.emplace(truncated_normal_linear(size, gates, random));
}

RelationalMemoryCoreResult RelationalMemoryCore::operator()(const Tensor& memory, const Tensor& x) const {
  const Scope scope(this, "relational_memory_core");
  return step(memory, project(x));
}

RelationalMemoryCore::Projected RelationalMemoryCore::project(const Tensor& x) const {
  const Scope scope(this, "relational_memory_core");
  const std::int64_t size = slot_size();
  const bool is_matrix = options.input_rows > 1;
  if (x.rank() < (is_matrix ? 3 : 2) || x.dim(-1) != input.weight.dim(1) || (is_matrix && x.dim(-2) != options.input_rows))
    throw ShapeError(text("RelationalMemoryCore: the input ", x, " must be [batch, ", is_matrix ? text(options.input_rows, ", ") : "",
                          input.weight.dim(1), "]; reshape it"));
  const Tensor rows = input(x);
  if (!gate_of_input) return {rows, {}};
  const int last = rows.rank() - 1;
  const Tensor flat = is_matrix ? reshape(rows, rows.shape().erased(last).replaced(last - 1, options.input_rows * size)) : rows;
  return {rows, (*gate_of_input)(flat)};
}

RelationalMemoryCoreResult RelationalMemoryCore::step(const Tensor& memory, const Projected& x) const {
  const Scope scope(this, "relational_memory_core");
  const std::int64_t slots = options.slots, size = slot_size();
  if (memory.rank() != 3 || memory.dim(1) != slots || memory.dim(2) != size)
    throw ShapeError(text("RelationalMemoryCore: the memory ", memory.shape(), " must be [batch, ", slots, ", ", size,
                          "]; begin with initial_memory(batch)"));
  if (x.rows.dim(0) != memory.dim(0))
    throw ShapeError(text("RelationalMemoryCore: the projected input ", x.rows.shape(), " and the memory ", memory.shape(),
                          " must have one batch; give an input for each memory"));
  RelationalMemoryCoreResult result;
  Tensor rows = concat({memory, x.rows.rank() == 2 ? unsqueeze(x.rows, 1) : x.rows}, 1);
  for (const RelationalMemoryBlock& block : blocks) {
    const bool last = &block == &blocks.back();
    const std::int64_t queries = last && options.memory_rows_only ? slots : rows.dim(1);
    auto [attended, weights] = attend(block, rows, queries);
    rows = block.attention_norm(first_rows(rows, queries) + attended);
    rows = block.mlp_norm(apply_mlp(rows) + rows);
    result.weights = weights;
  }
  const Tensor candidate = first_rows(rows, slots);
  if (!gate_of_memory) {
    result.memory = candidate;
    return result;
  }
  const Tensor gates = (*gate_of_memory)(tanh(memory)) + unsqueeze(x.gate, 1);
  const std::int64_t half = gates.dim(-1) / 2;
  result.input_gate = sigmoid(slice(gates, {all, all, range(0, half)}) + options.input_bias);
  result.forget_gate = sigmoid(slice(gates, {all, all, range(half, 2 * half)}) + options.forget_bias);
  result.memory = result.input_gate * tanh(candidate) + result.forget_gate * memory;
  return result;
}

Tensor RelationalMemoryCore::apply_mlp(const Tensor& x) const {
  Tensor y = mlp.front()(x);
  for (std::size_t k = 1; k < mlp.size(); ++k) y = mlp[k](relu(y));
  return y;
}

AttentionResult RelationalMemoryCore::attend(const RelationalMemoryBlock& block, const Tensor& rows,
                                             std::int64_t queries) const {
  return packed_attention(block.qkv_norm(block.qkv(rows)), {.heads = options.heads,
                                                            .key_size = key_size(options),
                                                            .layout = PackedLayout::by_head,
                                                            .queries = queries});
}

Tensor RelationalMemoryCore::initial_memory(std::int64_t batch) const {
  const Dtype dtype = input.weight.dtype();
  return broadcast_to(eye(options.slots, slot_size(), dtype), {batch, options.slots, slot_size()});
}

}  // namespace retrace

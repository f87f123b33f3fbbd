#include <retrace/nn/memory/relational_memory_core.h>

#include <algorithm>
#include <cmath>

namespace retrace {
namespace {

std::int64_t key_size(const RelationalMemoryCoreOptions& options) {
  return options.key_size == 0 ? options.head_size : options.key_size;
}

Linear initial_linear(std::int64_t in, std::int64_t out, MemoryInit init, Random& random, BiasOptions options = {}) {
  Linear result(in, out, random, options);
  const double size = 1 / std::sqrt(static_cast<double>(in));
  if (init == MemoryInit::truncated_normal) copy_values(truncated_normal({out, in}, size, random), result.weight);
  if (init == MemoryInit::uniform) {
    copy_values(random.uniform({out, in}, -size, size), result.weight);
    if (result.bias) copy_values(random.uniform({out}, -size, size), *result.bias);
  }
  return result;
}

std::optional<LayerNorm> norm_of(std::int64_t features, const RelationalMemoryCoreOptions& options) {
  if (!options.layer_norm) return std::nullopt;
  switch (options.variant.norm) {
    case MemoryNorm::joint:
      return LayerNorm(Shape{features}, {.axes = 2, .eps = options.eps});
    case MemoryNorm::joint_of_rows:
      return LayerNorm(Shape{options.slots + options.input_rows, features}, {.axes = 2, .eps = options.eps});
    case MemoryNorm::row:
      break;
  }
  return LayerNorm(features, options.eps);
}

Tensor normalised(const Tensor& x, const std::optional<LayerNorm>& norm) { return norm ? (*norm)(x) : x; }
/// Normalises y + x, or y alone without the residual.
Tensor normalised_sum(const Tensor& y, const Tensor& x, const std::optional<LayerNorm>& norm, bool residual) {
  if (!residual) return normalised(y, norm);
  return norm ? (*norm)(y, x) : y + x;
}

/// [q k v] of all heads, with q scaled such that scores, which attention divides by sqrt(key_size), are in effect
/// divided by the square root of the number of columns of a head.
Tensor with_packed_scale(const Tensor& qkv, std::int64_t heads, std::int64_t features_of_key) {
  const std::int64_t columns = qkv.dim(-1) / heads;
  const double factor = std::sqrt(static_cast<double>(features_of_key) / static_cast<double>(columns));
  const Tensor of_queries = full({heads, features_of_key}, factor, qkv.dtype());
  const Tensor of_head = concat({of_queries, ones({heads, columns - features_of_key}, qkv.dtype())}, 1);
  return qkv * reshape(of_head, {qkv.dim(-1)});
}

// Checks every size that depends on the options alone, before anything is allocated.
void check_parameters(const RelationalMemoryCoreOptions& options) {
  constexpr const char* layer = "RelationalMemoryCore";
  const std::int64_t size = checked_product(layer, "heads x head_size", {options.heads, options.head_size});
  const std::int64_t of_head =
      checked_sum(layer, "2 key_size + head_size", {key_size(options), key_size(options), options.head_size});
  const std::int64_t columns = checked_product(layer, "heads x (2 key_size + head_size)", {options.heads, of_head});
  const std::int64_t rows = checked_sum(layer, "slots + input_rows", {options.slots, options.input_rows});
  const RelationalMemoryCoreVariant& variant = options.variant;
  parameter_shape(layer, "qkv.weight of all blocks", {variant.one_block ? 1 : options.blocks, columns, size});
  parameter_shape(layer, "mlp",
                  {variant.mlp == MemoryMlp::of_block ? options.blocks : 1, options.mlp_layers, size, size});
  parameter_shape(layer, "gate_of_input.weight", {2, size, options.input_rows, size});
  check_memory(layer, "the memory with the input's rows", {rows, size});
}

const RelationalMemoryCoreOptions& checked(const RelationalMemoryCoreOptions& options) {
  const auto positive = [](std::int64_t value, const char* name) {
    if (value < 1) throw ValueError(text("RelationalMemoryCore: ", name, " is ", value, "; it has to be 1 or more"));
  };
  positive(options.slots, "slots"), positive(options.head_size, "head_size"), positive(options.heads, "heads");
  positive(options.blocks, "blocks"), positive(options.input_rows, "input_rows");
  if (options.mlp_layers < 0)
    throw ValueError(text("RelationalMemoryCore: mlp_layers is ", options.mlp_layers, "; give 0 for no MLP, or more"));
  if (options.key_size < 0)
    throw ValueError(
        text("RelationalMemoryCore: key_size is ", options.key_size, "; give 0 for that of the heads, or more"));
  check_probability("RelationalMemoryCore", options.dropout);
  check_parameters(options);
  return options;
}

// Checks first, because the order in which a constructor evaluates the arguments of a call is unspecified.
Linear input_layer(std::int64_t input_size, const RelationalMemoryCoreOptions& options, Random& random) {
  const std::int64_t size = checked(options).heads * options.head_size;
  if (input_size < 1)
    throw ValueError(text("RelationalMemoryCore: the input has ", input_size, " features; it needs 1 or more"));
  parameter_shape("RelationalMemoryCore", "input.weight", {size, input_size});
  return initial_linear(input_size, size, options.variant.init, random);
}

Linear qkv_layer(const RelationalMemoryCoreOptions& options, Random& random) {
  const std::int64_t size = checked(options).heads * options.head_size;
  const std::int64_t columns = options.heads * (2 * key_size(options) + options.head_size);
  return initial_linear(size, columns, options.variant.init, random, {.bias = options.variant.biases_of_linears});
}

/// v of each head [B, heads, L, head_size] out of qkv [B, L, heads (2 key_size + head_size)].
Tensor values_of_heads(const Tensor& qkv, const RelationalMemoryCoreOptions& options) {
  const std::int64_t columns = qkv.dim(-1) / options.heads, first = 2 * key_size(options);
  const Tensor of_heads = split_heads(qkv, options.heads);
  return slice(of_heads, {all, all, all, range(first, columns)});
}

/// The first rows of x [B, L, S].
Tensor first_rows(const Tensor& x, std::int64_t count) {
  return x.dim(1) == count ? x : slice(x, {all, range(0, count)});
}

}  // namespace

RelationalMemoryBlock::RelationalMemoryBlock(const RelationalMemoryCoreOptions& options, Random& random)
    : qkv(qkv_layer(options, random)),
      qkv_norm(norm_of(qkv.weight.dim(0), options)),
      attention_norm(norm_of(qkv.weight.dim(1), options)),
      mlp_norm(options.mlp_layers == 0 ? std::nullopt : norm_of(qkv.weight.dim(1), options)) {}

RelationalMemoryCore::RelationalMemoryCore(std::int64_t input_size, Random& random,
                                           const RelationalMemoryCoreOptions& core)
    : input(input_layer(input_size, core, random)), options(core) {
  const RelationalMemoryCoreVariant& variant = options.variant;
  const std::int64_t size = slot_size();
  for (int k = 0; k < (variant.one_block ? 1 : options.blocks); ++k) blocks.emplace_back(options, random);
  mlp = make_mlp(random);
  if (options.gate == MemoryGate::none) return;
  const std::int64_t gates = options.gate == MemoryGate::unit ? 2 * size : 2;
  const BiasOptions with{.bias = variant.biases_of_linears};
  gate_of_input.emplace(initial_linear(options.input_rows * size, gates, variant.init, random, with));
  gate_of_memory.emplace(initial_linear(size, gates, variant.init, random, with));
  if (variant.gate_bias != MemoryGateBias::learned) return;
  input_bias.emplace(full({}, options.input_bias));
  forget_bias.emplace(full({}, options.forget_bias));
}

std::vector<Linear> RelationalMemoryCore::make_mlp(Random& random) const {
  const MemoryMlp kind = options.variant.mlp;
  const std::int64_t blocks_with_their_own = kind == MemoryMlp::of_block ? options.blocks : 1;
  const int layers = kind == MemoryMlp::one_layer ? std::min(1, options.mlp_layers) : options.mlp_layers;
  std::vector<Linear> result;
  for (std::int64_t k = 0; k < blocks_with_their_own * layers; ++k)
    result.push_back(initial_linear(slot_size(), slot_size(), options.variant.init, random));
  return result;
}

RelationalMemoryCoreResult RelationalMemoryCore::operator()(const Tensor& memory, const Tensor& x,
                                                            Random* random) const {
  const Scope scope(this, "relational_memory_core");
  check_defined("RelationalMemoryCore", memory, "memory");
  return step(memory, project(x), random);
}

RelationalMemoryCore::Projected RelationalMemoryCore::project(const Tensor& x) const {
  const Scope scope(this, "relational_memory_core");
  check_defined("RelationalMemoryCore", x, "x");
  const std::int64_t size = slot_size();
  const bool is_matrix = options.input_rows > 1;
  if (x.rank() < (is_matrix ? 3 : 2) || x.dim(-1) != input.weight.dim(1) ||
      (is_matrix && x.dim(-2) != options.input_rows))
    throw ShapeError(text("RelationalMemoryCore: the input ", x, " must be [batch, ",
                          is_matrix ? text(options.input_rows, ", ") : "", input.weight.dim(1), "]; reshape it"));
  const Tensor rows = input(x);
  if (!gate_of_input) return {rows, {}};
  const int last = rows.rank() - 1;
  const Tensor flat =
      is_matrix ? reshape(rows, rows.shape().erased(last).replaced(last - 1, options.input_rows * size)) : rows;
  return {rows, (*gate_of_input)(flat)};
}

RelationalMemoryCoreResult RelationalMemoryCore::step(const Tensor& memory, const Projected& x, Random* random) const {
  const Scope scope(this, "relational_memory_core");
  check_defined("RelationalMemoryCore", memory, "memory");
  check_defined("RelationalMemoryCore", x.rows, "the projected input");
  const std::int64_t slots = options.slots, size = slot_size();
  if (memory.rank() != 3 || memory.dim(1) != slots || memory.dim(2) != size)
    throw ShapeError(text("RelationalMemoryCore: the memory ", memory.shape(), " must be [batch, ", slots, ", ", size,
                          "]; begin with initial_memory(batch)"));
  if (x.rows.dim(0) != memory.dim(0))
    throw ShapeError(text("RelationalMemoryCore: the projected input ", x.rows.shape(), " and the memory ",
                          memory.shape(), " must have one batch; give one input per memory"));
  RelationalMemoryCoreResult result;
  Tensor rows = concat({memory, x.rows.rank() == 2 ? unsqueeze(x.rows, 1) : x.rows}, 1);
  for (int k = 0; k < options.blocks; ++k) {
    const RelationalMemoryBlock& block = blocks[options.variant.one_block ? 0 : static_cast<std::size_t>(k)];
    const bool is_last = k + 1 == options.blocks;
    const bool rows_are_apart = !options.layer_norm || options.variant.norm == MemoryNorm::row;
    const std::int64_t queries = is_last && rows_are_apart && options.memory_rows_only ? slots : rows.dim(1);
    auto [attended, weights] = attend(block, rows, queries, random);
    // Use the memory itself, not its copy in `rows`: its gradient then does not pass through concat and slice.
    const Tensor residual = k == 0 && queries == slots ? memory : first_rows(rows, queries);
    rows = normalised_sum(dropped(attended, random), residual, block.attention_norm, options.residual);
    if (options.mlp_layers > 0)
      rows = normalised_sum(dropped(apply_mlp(rows, k), random), rows, block.mlp_norm, options.residual);
    result.weights = weights;
  }
  if (!gate_of_memory) {
    result.memory = first_rows(rows, slots);
    return result;
  }
  auto [next, input_gate, forget_gate] = gated_memory(memory, rows, (*gate_of_memory)(tanh(memory)), x.gate,
                                                      {.input_bias = bias_of(input_bias, options.input_bias),
                                                       .forget_bias = bias_of(forget_bias, options.forget_bias)});
  result.memory = next, result.input_gate = input_gate, result.forget_gate = forget_gate;
  return result;
}

Tensor RelationalMemoryCore::bias_of(const std::optional<Parameter>& learned, double constant) const {
  if (options.variant.gate_bias == MemoryGateBias::none) return {};
  if (learned) return *learned;
  return full({}, constant, input.weight.dtype());
}

Tensor RelationalMemoryCore::apply_mlp(const Tensor& x, int block) const {
  const RelationalMemoryCoreVariant& variant = options.variant;
  const int first = variant.mlp == MemoryMlp::of_block ? block * options.mlp_layers : 0;
  Tensor y = x;
  for (int k = 0; k < options.mlp_layers; ++k) {
    const bool is_last = k + 1 == options.mlp_layers;
    const bool active = variant.relu == MemoryRelu::every || (variant.relu == MemoryRelu::between && !is_last);
    const Linear& layer = mlp[variant.mlp == MemoryMlp::one_layer ? 0 : static_cast<std::size_t>(first + k)];
    y = layer(y, active ? Activation::relu : Activation::none);
  }
  return y;
}

AttentionResult RelationalMemoryCore::attend(const RelationalMemoryBlock& block, const Tensor& rows,
                                             std::int64_t queries, Random* random) const {
  Tensor qkv = normalised(block.qkv(rows), block.qkv_norm);
  if (options.variant.packed_scale) qkv = with_packed_scale(qkv, options.heads, key_size(options));
  AttentionResult result = packed_attention_with_weights(
      qkv,
      {.heads = options.heads, .key_size = key_size(options), .layout = PackedLayout::by_head, .queries = queries});
  if (options.dropout == 0 || random == nullptr) return result;
  const Tensor weights = options.heads == 1 ? unsqueeze(result.weights, 1) : result.weights;
  result.y = combine_heads(matmul(dropped(weights, random), values_of_heads(qkv, options)));
  return result;
}

Tensor RelationalMemoryCore::dropped(const Tensor& x, Random* random) const {
  return options.dropout > 0 ? dropout(x, options.dropout, random) : x;
}

Tensor RelationalMemoryCore::initial_memory(std::int64_t batch) const {
  const Dtype dtype = input.weight.dtype();
  return broadcast_to(eye(options.slots, slot_size(), dtype), {batch, options.slots, slot_size()});
}

}  // namespace retrace

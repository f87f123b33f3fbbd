#include <retrace/nn/memory/mlstm.h>

#include <retrace/nn/memory/head_rows.h>
#include <retrace/ops/loops/padding.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace retrace {
namespace {

std::int64_t width_of(const MlstmOptions& options) {
  return checked_product("Mlstm", "heads x head_size", {options.heads, options.head_size});
}

Linear projection(std::int64_t features, Random& random, const MlstmOptions& options) {
  check_head_sizes("Mlstm", options.heads, options.head_size);
  const std::int64_t width = width_of(options), heads = options.heads;
  return linear_of_blocks("Mlstm", {width, width, width, width, heads, heads}, features, random);
}

/// The steps of a chunk are computed together: C is not needed after each of them (the paper's appendix A.3).
constexpr std::int64_t longest_chunk = 64;

/// e^-m becomes 0 where the gates are large for many steps, and n q is 0 after a row of zeros: h is then 0 and not 0 /
/// 0.
constexpr double least_divisor = 1e-6;

/// The inputs of each head at the steps of a chunk of L, and its state before them.
struct Chunk {
  Tensor q, k, v_and_one;        // [B heads, L, d], and d + 1
  Tensor log_input, log_forget;  // [B heads, L]
  Tensor memory, m;              // [B heads, d, d + 1], undefined: zeros; [B heads, 1]
};

/// C q and n^T q, and e^-m [B heads, L, d + 1] and [B heads, L, 1]; the state after the chunk.
struct ChunkResult {
  Tensor read, scale, memory, m;
};

// With F_t = the sum of ln f up to t, step s has the weight e^(F_t - F_s + ln i_s - m_t) at step t >= s, and the state
// before the chunk e^(F_t + m - m_t).
ChunkResult run_chunk(const Chunk& in) {
  const std::int64_t heads = in.q.dim(0), steps = in.q.dim(1);
  const Tensor kept = cumsum(in.log_forget, 1);
  const Tensor later = equal(tril(ones({steps, steps}, kept.dtype())), 0);
  const Tensor log_weights = masked_fill(unsqueeze(kept, 2) + unsqueeze(in.log_input - kept, 1), later,
                                         -std::numeric_limits<double>::infinity());
  const Tensor log_before = kept + in.m;  // [B heads, L]
  const Tensor m = maximum(max(log_weights.detach(), 2), log_before.detach());
  const Tensor weights = exp(log_weights - unsqueeze(m, 2)), before = exp(log_before - m);
  ChunkResult result;
  result.read = matmul(matmul(in.q, in.k, {.transpose_b = true}) * weights, in.v_and_one);
  const auto last = [&](const Tensor& x) { return slice(x, {all, steps - 1}); };
  result.memory = matmul(in.k * reshape(last(weights), {heads, steps, 1}), in.v_and_one, {.transpose_a = true});
  if (in.memory.defined()) {
    result.read = result.read + unsqueeze(before, 2) * matmul(in.q, in.memory);
    result.memory = result.memory + reshape(last(before), {heads, 1, 1}) * in.memory;
  }
  result.scale = unsqueeze(exp(-m), 2);
  result.m = reshape(last(m), {heads, 1});
  return result;
}

}  // namespace

Mlstm::Mlstm(std::int64_t features, Random& random, const MlstmOptions& mlstm)
    : project(projection(features, random, mlstm)),
      norm(mlstm.head_size, mlstm.eps),
      out(width_of(mlstm), features, random, {.bias = false}),
      options(mlstm) {
  const Tensor of_forget_gate = linspace(options.least_forget_bias, options.most_forget_bias, options.heads);
  copy_values(concat({zeros({4 * width_of(options) + options.heads}), of_forget_gate}), *project.bias);
}

MlstmResult Mlstm::operator()(const Tensor& x, const MlstmState& state, const Tensor& lengths) const {
  const Scope scope(this, "mlstm");
  check_defined("Mlstm", x, "x");
  const std::int64_t batch = x.rank() == 3 ? x.dim(0) : 0, heads = options.heads, size = options.head_size;
  const std::int64_t width = heads * size;
  const Shape shape{batch, heads, size, size + 1}, shape_of_m{batch, heads};
  check_heads("Mlstm", x, project.weight.dim(1), state.memory, shape, lengths);
  check_heads("Mlstm", x, project.weight.dim(1), state.stabiliser, shape_of_m, lengths);
  const Tensors parts = split(project(with_harmless_padding(x, lengths)), {width, width, width, width, heads, heads},
                              -1);  // each [B, T, ...]
  const std::int64_t time = x.dim(1), all_heads = batch * heads;
  const auto rows = [&](std::size_t part) { return rows_of_heads(parts[part], options.heads); };
  const auto gate = [&](std::size_t part) { return reshape(rows(part), {all_heads, time}); };
  Tensor log_input = gate(4);
  Tensor log_forget = options.forget_gate == MlstmForgetGate::exp ? gate(5) : log_sigmoid(gate(5));
  if (lengths.defined()) {  // i = 0 and f = 1 after the end of a sample
    const Tensor ended = after_end(lengths, heads, time);
    log_input = masked_fill(log_input, ended, -std::numeric_limits<double>::infinity());
    log_forget = masked_fill(log_forget, ended, 0);
  }
  const Tensor q = rows(0), k = rows(1) / std::sqrt(static_cast<double>(size));
  const Tensor v_and_one = concat({rows(2), ones({all_heads, time, 1}, q.dtype())}, -1);
  Tensor memory = state.memory.defined() ? reshape(state.memory, {all_heads, size, size + 1}) : Tensor();
  Tensor m = state.stabiliser.defined() ? reshape(state.stabiliser, {all_heads, 1}) : zeros({all_heads, 1}, q.dtype());
  Tensors outputs;
  for (std::int64_t first = 0; first < time; first += longest_chunk) {
    const auto part = [&](const Tensor& y) {
      return time <= longest_chunk ? y : slice(y, {all, range(first, std::min(first + longest_chunk, time))});
    };
    const ChunkResult result =
        run_chunk({part(q), part(k), part(v_and_one), part(log_input), part(log_forget), memory, m});
    const Tensor of_n = slice(result.read, {all, all, range(size, size + 1)});
    const Tensor divisor = maximum(maximum(abs(of_n), result.scale), full({1}, least_divisor, of_n.dtype()));
    outputs.push_back(slice(result.read, {all, all, range(0, size)}) / divisor);
    memory = result.memory, m = result.m;
  }
  const Tensor h = norm(outputs.size() == 1 ? outputs.front() : concat(outputs, 1));
  const Tensor gated = sigmoid(parts[3]) * combine_heads(reshape(h, {batch, heads, time, size}));
  return {out(gated), {reshape(memory, shape), reshape(m, shape_of_m)}};
}

}  // namespace retrace

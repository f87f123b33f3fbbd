#include <retrace/nn/memory/delta_net.h>

#include <retrace/nn/memory/head_rows.h>
#include <retrace/ops/loops/padding.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace retrace {
namespace {

const DeltaNetOptions& checked(const DeltaNetOptions& options) {
  check_head_sizes("DeltaNet", options.heads, options.head_size);
  if (!(options.largest_step > 0 && options.largest_step <= 2))
    throw ValueError(text("DeltaNet: the largest step ", options.largest_step, " must lie above 0 and up to 2"));
  for (const double kept : {options.least_kept, options.most_kept})
    if (!(kept > 0 && kept < 1))
      throw ValueError(text("DeltaNet: alpha begins at ", kept, "; it lies between 0 and 1"));
  return options;
}

std::int64_t width_of(const DeltaNetOptions& options) {
  return checked_product("DeltaNet", "heads x head_size", {options.heads, options.head_size});
}

Linear projection(std::int64_t features, Random& random, const DeltaNetOptions& options) {
  const std::int64_t width = width_of(checked(options)), heads = options.heads;
  return linear_of_blocks("DeltaNet", {width, width, width, width, heads, heads}, features, random);
}

/// The bias of alpha in each head, evenly spaced from that of least_kept to that of most_kept.
Tensor initial_bias(const DeltaNetOptions& options) {
  const auto logit = [](double p) { return std::log(p / (1 - p)); };
  const Tensor of_alpha = linspace(logit(options.least_kept), logit(options.most_kept), options.heads);
  return concat({zeros({4 * width_of(options) + options.heads}), of_alpha});
}

/// z / |z| of the rows z.
Tensor unit_rows(const Tensor& z, double eps) {
  return rms_norm(z, {}, eps) / std::sqrt(static_cast<double>(z.dim(-1)));
}

/// The steps of a chunk are computed together: S is not needed after each of them (section 3.3 of the paper).
constexpr std::int64_t steps_of_a_chunk = 8;

/// x [B heads, T, ...], filled up with zeros to whole chunks of L steps -> [chunks, B heads, L, ...].
Tensor in_chunks(const Tensor& x, std::int64_t steps) {
  const std::int64_t chunks = (x.dim(1) + steps - 1) / steps, missing = chunks * steps - x.dim(1);
  const Tensor whole = missing == 0 ? x : pad(x, {{0, 0}, {0, missing}, {0, 0}});
  return transpose(reshape(whole, {x.dim(0), chunks, steps, x.dim(2)}), {1, 0, 2, 3});
}

/// (I + A)^-1 = (I - A)(I + A^2)(I + A^4)... of matrices A [..., L, L] with zeros on and above the diagonal.
Tensor inverse_of_one_plus(const Tensor& a) {
  const std::int64_t size = a.dim(-1);
  Tensor result = eye(size, size, a.dtype()) - a, power = a;
  for (std::int64_t known = 2; known < size; known *= 2) {
    power = matmul(power, power);
    result = result + matmul(result, power);
  }
  return result;
}

/// The steps of each chunk, with F_t the sum of ln alpha up to step t of the chunk: for the memory M before,
///   U = values - keys M, o = queries M + scores U, M' = kept M + last_keys^T U.
struct Chunks {
  Tensor values, keys, queries, scores, last_keys, kept;  // [chunks, B heads, L, d]; scores L x L, kept 1 x 1
};

// u_t = beta_t (v_t - alpha_t M_(t-1) k_t) are the rows of U: M_t = e^F_t M + the sum over s <= t of e^(F_t - F_s)
// k_s^T u_s, and so (I + A) U = beta (V - e^F K M) with A_ts = beta_t e^(F_t - F_s) k_t k_s^T for s < t.
Chunks chunks_of(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& beta, const Tensor& log_alpha) {
  const std::int64_t steps = q.dim(2);
  const Tensor sums = cumsum(log_alpha, 2);  // F [chunks, B heads, L, 1]
  const Tensor later = equal(tril(ones({steps, steps}, q.dtype())), 0);
  const Tensor decay =
      exp(masked_fill(sums - transpose(sums), later, -std::numeric_limits<double>::infinity()));  // of s at t
  const Tensor beta_k = beta * k, kept = exp(sums);
  const Tensor inverse = inverse_of_one_plus(tril(matmul(beta_k, k, {.transpose_b = true}) * decay, -1));
  const Tensor to_the_end = reshape(slice(decay, {all, all, steps - 1}), sums.shape());
  return {matmul(inverse, beta * v),
          matmul(inverse, beta_k * kept),
          q * kept,
          matmul(q, k, {.transpose_b = true}) * decay,
          k * to_the_end,
          slice(kept, {all, all, range(steps - 1, steps)})};
}

}  // namespace

DeltaNet::DeltaNet(std::int64_t features, Random& random, const DeltaNetOptions& delta)
    : project(projection(features, random, delta)),
      norm(delta.head_size, delta.eps),
      out(width_of(delta), features, random, {.bias = false}),
      options(delta) {
  copy_values(initial_bias(options), *project.bias);
}

// Rows take the place of columns: M = S^T.
DeltaNetResult DeltaNet::operator()(const Tensor& x, const DeltaNetState& state, const Tensor& lengths) const {
  const Scope scope(this, "delta_net");
  check_defined("DeltaNet", x, "x");
  const std::int64_t batch = x.rank() == 3 ? x.dim(0) : 0, heads = options.heads, size = options.head_size;
  const std::int64_t width = heads * size;
  const Shape shape{batch, heads, size, size};
  check_heads("DeltaNet", x, project.weight.dim(1), state.memory, shape, lengths);
  const std::int64_t time = x.dim(1), steps = std::min(time, steps_of_a_chunk), all_heads = batch * heads;
  const Tensors parts = split(project(with_harmless_padding(x, lengths)), {width, width, width, width, heads, heads},
                              -1);  // each [B, T, ...]
  const auto rows = [&](std::size_t part) { return rows_of_heads(parts[part], options.heads); };
  Tensor beta = options.largest_step * sigmoid(rows(4)), log_alpha = log_sigmoid(rows(5));
  if (lengths.defined()) {  // nothing is written and all kept after the end of a sample
    const Tensor ended = unsqueeze(after_end(lengths, heads, time), 2);
    beta = masked_fill(beta, ended, 0), log_alpha = masked_fill(log_alpha, ended, 0);
  }
  const Chunks chunks = chunks_of(in_chunks(unit_rows(silu(rows(0)), options.eps), steps),
                                  in_chunks(unit_rows(silu(rows(1)), options.eps), steps),
                                  in_chunks(silu(rows(2)), steps), in_chunks(beta, steps), in_chunks(log_alpha, steps));
  Tensor memory = state.memory.defined() ? reshape(state.memory, {all_heads, size, size}) : Tensor();
  Tensors outputs;
  for (std::int64_t chunk = 0; chunk < chunks.values.dim(0); ++chunk) {
    const auto at = [chunk](const Tensor& of_chunks) { return slice(of_chunks, {chunk}); };
    const bool is_zero = !memory.defined();
    const Tensor u = is_zero ? at(chunks.values) : at(chunks.values) - matmul(at(chunks.keys), memory);
    const Tensor read = matmul(at(chunks.scores), u);
    const Tensor written = matmul(at(chunks.last_keys), u, {.transpose_a = true});
    outputs.push_back(is_zero ? read : read + matmul(at(chunks.queries), memory));
    memory = is_zero ? written : at(chunks.kept) * memory + written;
  }
  const Tensor o = reshape(outputs.size() == 1 ? outputs.front() : concat(outputs, 1),
                           {batch, heads, std::ssize(outputs) * steps, size});
  const Tensor y = norm(slice(o, {all, all, range(0, time)}));
  return {out(combine_heads(y) * silu(parts[3])), {reshape(memory, shape)}};
}

}  // namespace retrace

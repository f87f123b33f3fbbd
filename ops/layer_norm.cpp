#include <algorithm>
#include <utility>

#include <retrace/core/parallel.h>
#include <retrace/ops/kernels/rows.h>
#include <retrace/ops/operands.h>
#include <retrace/ops/ops.h>

namespace retrace {
namespace {

constexpr OpInfo info{
    "layer_norm", "y = n gamma + beta, n = (x - mean x) / sqrt(var x + eps)",
    "g = dy gamma, dx = (g - mean g - n mean(g n)) / sqrt(var x + eps), dgamma = sum dy n, dbeta = sum dy",
    "x, gamma, beta"};

// Where gamma and beta are among the inputs; -1: not given.
struct Attributes {
  int gamma = -1;
  int beta = -1;
};

constexpr std::int64_t grain = 4096;  // elements that are worth a thread

// The rows are cut into blocks, of a size that depends on their length alone: the sums over rows are those of the
// blocks, added up in order, on any number of threads.
std::int64_t rows_of_a_block(std::int64_t width) { return std::clamp<std::int64_t>(262144 / (width + 1), 1, 1024); }

template <class T>
kernels::LayerNormGradientRows<T> rows_from(kernels::LayerNormGradientRows<T> all, std::int64_t first,
                                            std::int64_t last) {
  all.x += first * all.length, all.dy += first * all.length;
  all.mean += first, all.inverse += first;
  if (all.dx != nullptr) all.dx += first * all.length;
  all.rows = last - first;
  return all;
}

/// The gradients of `all` block by block; the sums of every block but the first go to room of their own before they are
/// added.
template <class T>
void gradient_by_blocks(const kernels::LayerNormGradientRows<T>& all, Dtype dtype) {
  const std::int64_t size = rows_of_a_block(all.length), blocks = (all.rows + size - 1) / size;
  const Tensor room = zeros({std::max<std::int64_t>(blocks - 1, 0), 2, all.length}, dtype);
  T* sums = room.mutable_values<T>().data();
  const auto of_block = [=](std::int64_t block, int which) { return sums + (2 * (block - 1) + which) * all.length; };
  parallel_for(blocks, grain / (size * all.length + 1) + 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t block = begin; block < end; ++block) {
      kernels::LayerNormGradientRows<T> part = rows_from(all, block * size, std::min((block + 1) * size, all.rows));
      if (block > 0 && part.dgamma != nullptr) part.dgamma = of_block(block, 0);
      if (block > 0 && part.dbeta != nullptr) part.dbeta = of_block(block, 1);
      kernels::layer_norm_gradient(part);
    }
  });
  for (std::int64_t block = 1; block < blocks; ++block) {
    for (std::int64_t k = 0; all.dgamma != nullptr && k < all.length; ++k) all.dgamma[k] += of_block(block, 0)[k];
    for (std::int64_t k = 0; all.dbeta != nullptr && k < all.length; ++k) all.dbeta[k] += of_block(block, 1)[k];
  }
}

// saved: 0 x, 1 mean, 2 inverse, 3 gamma
void backward(Record& r) {
  const Attributes at = r.attributes<Attributes>();
  const std::int64_t rows = r.saved(1).numel();
  const std::int64_t width = rows == 0 ? 0 : r.in(0).numel() / rows;
  dispatch_real(r.out(0).dtype, info.name, [&](auto zero) {
    using T = decltype(zero);
    const auto sums_of = [&](int input) { return input > 0 && r.wants(input) ? r.grad_in_to_add<T>(input) : nullptr; };
    const GradientSlot<T> dx = r.wants(0) ? r.grad_in<T>(0) : GradientSlot<T>{nullptr, false};
    gradient_by_blocks<T>({.x = r.saved(0).values<T>(),
                           .dy = r.grad_out<T>(),
                           .gamma = r.saved(3) ? r.saved(3).values<T>() : nullptr,
                           .mean = r.saved(1).values<T>(),
                           .inverse = r.saved(2).values<T>(),
                           .dx = dx.values,
                           .dgamma = sums_of(at.gamma),
                           .dbeta = sums_of(at.beta),
                           .rows = rows,
                           .length = width,
                           .add = dx.add},
                          r.out(0).dtype);
  });
}

void check(const Tensor& x, const Tensor& gamma, const Tensor& beta, LayerNormOptions options) {
  if (options.axes < 1 || options.axes > x.rank())
    throw ShapeError(text("layer_norm: ", describe_operand("x", x), " does not have ", options.axes,
                          " last axes to normalise; options.axes is 1 to the rank"));
  if (!(options.eps >= 0))
    throw ValueError(
        text("layer_norm: ", describe_operand("x", x), " with eps ", options.eps, "; eps must be 0 or more"));
  const Shape normalised = x.shape().last(options.axes);
  for (const auto& [role, affine] : {std::pair("gamma", &gamma), std::pair("beta", &beta)}) {
    if (!affine->defined()) continue;
    if (affine->shape() != normalised)
      throw ShapeError(text("layer_norm: ", describe_operand(role, *affine), " does not have the shape ", normalised,
                            " of the normalised axes of ", describe_operand("x", x), "; reshape it"));
    check_dtypes(info.name, x, *affine, "x", role);
  }
}

template <class T>
void forward(const Tensor& x, const Tensor& gamma, const Tensor& beta, double eps, const Tensor& mean,
             const Tensor& inverse, const Tensor& y) {
  const std::int64_t rows = inverse.numel(), width = rows == 0 ? 0 : x.numel() / rows;
  const T* from = x.values<T>().data();
  const T* scale = gamma.defined() ? gamma.values<T>().data() : nullptr;
  const T* offset = beta.defined() ? beta.values<T>().data() : nullptr;
  T *to = y.mutable_values<T>().data(), *to_mean = mean.mutable_values<T>().data();
  T* to_inverse = inverse.mutable_values<T>().data();
  parallel_for(rows, grain / (width + 1) + 1, [=](std::int64_t begin, std::int64_t end) {
    kernels::layer_norm<T>({from + begin * width, scale, offset, to + begin * width, to_mean + begin,
                            to_inverse + begin, end - begin, width, static_cast<T>(eps)});
  });
}

}  // namespace

Tensor layer_norm(const Tensor& x, const Tensor& gamma, const Tensor& beta, LayerNormOptions options) {
  check(x, gamma, beta, options);
  if (x.dtype() == f64 && ((gamma.defined() && gamma.dtype() == dual) || (beta.defined() && beta.dtype() == dual)))
    return layer_norm(to(x, dual), gamma, beta, options);
  if (x.dtype() == dual && gamma.defined() && gamma.dtype() == f64)
    return layer_norm(x, to(gamma, dual), beta, options);
  if (x.dtype() == dual && beta.defined() && beta.dtype() == f64) return layer_norm(x, gamma, to(beta, dual), options);
  Tensor mean, inverse, y;
  dispatch_real(x, "x", info.name, [&](auto zero) {
    mean = empty(x.shape().first(x.rank() - options.axes), x.dtype());
    inverse = empty_like(mean);
    y = empty_like(x);
    forward<decltype(zero)>(x, gamma, beta, options.eps, mean, inverse, y);
  });
  Attributes at;
  Tensors inputs{x};
  if (gamma.defined()) {
    at.gamma = static_cast<int>(inputs.size());
    inputs.push_back(gamma);
  }
  if (beta.defined()) {
    at.beta = static_cast<int>(inputs.size());
    inputs.push_back(beta);
  }
  record(info, backward, inputs, {&y}, {&x, &mean, &inverse, x.wants_gradient() ? &gamma : nullptr}, at);
  return y;
}

}  // namespace retrace

#include <cmath>
#include <utility>

#include <retrace/core/parallel.h>
#include <retrace/ops/operands.h>
#include <retrace/ops/ops.h>
#include <retrace/ops/ordered_sum.h>

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

// Two passes: sum x^2 - (sum x)^2 / d would lose everything where the mean is large.
template <class T>
void normalise(const T* x, T* normal, T* inverse, std::int64_t width, double eps) {
  using std::sqrt;
  const T d = static_cast<T>(static_cast<double>(width));
  const T mean = ordered_sum<T>(width, [=](std::int64_t k) { return x[k]; }) / d;
  const T var = ordered_sum<T>(width, [=](std::int64_t k) { return (x[k] - mean) * (x[k] - mean); }) / d;
  *inverse = T(1) / sqrt(var + static_cast<T>(eps));
  for (std::int64_t k = 0; k < width; ++k) normal[k] = (x[k] - mean) * *inverse;
}

template <class T>
void gradient_of_x(const T* dy, const T* gamma, const T* normal, const T* inverse, std::int64_t rows,
                   std::int64_t width, const GradientSlot<T>& dx) {
  parallel_for(rows, 4096 / (width + 1) + 1, [=](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      const T* n = normal + row * width;
      const auto g = [=](std::int64_t k) {
        return gamma == nullptr ? dy[row * width + k] : dy[row * width + k] * gamma[k];
      };
      const T d = static_cast<T>(static_cast<double>(width));
      const T mean_g = ordered_sum<T>(width, g) / d;
      const T mean_gn = ordered_sum<T>(width, [=](std::int64_t k) { return g(k) * n[k]; }) / d;
      GradientSlot<T>{dx.values + row * width, dx.add}.put(
          width, [=](std::int64_t k) { return (g(k) - mean_g - n[k] * mean_gn) * inverse[row]; });
    }
  });
}

// sum over rows of dy (times n), row after row.
template <class T>
void gradient_of_affine(const T* dy, const T* normal, std::int64_t rows, std::int64_t width, T* sums) {
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::int64_t k = 0; k < width; ++k)
      sums[k] += normal == nullptr ? dy[row * width + k] : dy[row * width + k] * normal[row * width + k];
}

void backward(Record& r) {
  const Attributes at = r.attributes<Attributes>();
  const std::int64_t rows = r.saved(1).numel();
  const std::int64_t width = rows == 0 ? 0 : r.in(0).numel() / rows;
  dispatch_real(r.out(0).dtype, info.name, [&](auto zero) {
    using T = decltype(zero);
    const T* dy = r.grad_out<T>();
    const T* normal = r.saved(0).values<T>();
    const T* gamma = r.saved(2) ? r.saved(2).values<T>() : nullptr;
    if (r.wants(0)) gradient_of_x(dy, gamma, normal, r.saved(1).values<T>(), rows, width, r.grad_in<T>(0));
    if (at.gamma > 0 && r.wants(at.gamma)) gradient_of_affine(dy, normal, rows, width, r.grad_in_to_add<T>(at.gamma));
    if (at.beta > 0 && r.wants(at.beta)) gradient_of_affine<T>(dy, nullptr, rows, width, r.grad_in_to_add<T>(at.beta));
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
void forward(const Tensor& x, const Tensor& gamma, const Tensor& beta, double eps, const Tensor& normal,
             const Tensor& inverse, const Tensor& y) {
  const std::int64_t rows = inverse.numel(), width = rows == 0 ? 0 : x.numel() / rows;
  const T* from = x.values<T>().data();
  const T* scale = gamma.defined() ? gamma.values<T>().data() : nullptr;
  const T* offset = beta.defined() ? beta.values<T>().data() : nullptr;
  T* to_normal = normal.mutable_values<T>().data();
  T* to_inverse = inverse.mutable_values<T>().data();
  T* to = y.mutable_values<T>().data();
  parallel_for(rows, 4096 / (width + 1) + 1, [=](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      T* n = to_normal + row * width;
      normalise(from + row * width, n, to_inverse + row, width, eps);
      for (std::int64_t k = 0; k < width; ++k) {
        const T scaled = scale == nullptr ? n[k] : n[k] * scale[k];
        to[row * width + k] = offset == nullptr ? scaled : scaled + offset[k];
      }
    }
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
  Tensor normal, inverse, y;
  dispatch_real(x, "x", info.name, [&](auto zero) {
    normal = empty_like(x);
    inverse = empty(x.shape().first(x.rank() - options.axes), x.dtype());
    y = empty_like(x);
    forward<decltype(zero)>(x, gamma, beta, options.eps, normal, inverse, y);
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
  record(info, backward, inputs, {&y}, {&normal, &inverse, x.wants_gradient() ? &gamma : nullptr}, at);
  return y;
}

}  // namespace retrace

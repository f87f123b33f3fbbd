#include <retrace/ops/layer_norm/blocks.h>
#include <retrace/ops/layer_norm/from_y.h>
#include <retrace/ops/layer_norm/operands.h>

namespace retrace {

// n = (x - mean x) / sqrt(var x + eps), y = n gamma + beta of each row; with a residual, of x + residual.
template <class T> void plain::layer_norm(const LayerNormRows<T>& args) {
  const T count = static_cast<T>(static_cast<double>(args.length));
  for (std::int64_t row = 0; row < args.rows; ++row) {
    const T* x = args.x + row * args.length;
    if (args.residual != nullptr) {
      T* sum = args.sum + row * args.length;
      for (std::int64_t k = 0; k < args.length; ++k) sum[k] = x[k] + args.residual[row * args.length + k];
      x = sum;
    }
    const T mean = ordered_sum<T>(args.length, [=](std::int64_t k) { return x[k]; }) / count;
    const T var = ordered_sum<T>(args.length, [=](std::int64_t k) { return (x[k] - mean) * (x[k] - mean); }) / count;
    const T inverse = T(1) / sqrt(var + args.eps);
    for (std::int64_t k = 0; k < args.length; ++k) {
      const T normal = (x[k] - mean) * inverse;
      const T scaled = args.gamma == nullptr ? normal : normal * args.gamma[k];
      args.y[row * args.length + k] = args.beta == nullptr ? scaled : scaled + args.beta[k];
    }
    args.mean[row] = mean;
    args.inverse[row] = inverse;
  }
}

// With g = dy gamma: dx = (g - mean g - n mean(g n)) / sqrt(var x + eps), dgamma = sum dy n, dbeta = sum dy.
template <class T> void plain::layer_norm_gradient(const LayerNormGradientRows<T>& args) {
  const T count = static_cast<T>(static_cast<double>(args.length));
  for (std::int64_t row = 0; row < args.rows; ++row) {
    const std::int64_t begin = row * args.length;
    const T* dy = args.dy + begin;
    const auto normal = [=](std::int64_t k) {
      if (args.x != nullptr) return (args.x[begin + k] - args.mean[row]) * args.inverse[row];
      const T scaled = args.beta == nullptr ? args.y[begin + k] : args.y[begin + k] - args.beta[k];
      return args.one_over_gamma == nullptr ? scaled : scaled * args.one_over_gamma[k];
    };
    const auto g = [=](std::int64_t k) { return args.gamma == nullptr ? dy[k] : dy[k] * args.gamma[k]; };
    for (std::int64_t k = 0; k < args.length; ++k) {
      if (args.dgamma != nullptr) args.dgamma[k] += dy[k] * normal(k);
      if (args.dbeta != nullptr) args.dbeta[k] += dy[k];
    }
    if (args.dx == nullptr) continue;
    const T mean_g = ordered_sum<T>(args.length, g) / count;
    const T mean_gn = ordered_sum<T>(args.length, [=](std::int64_t k) { return g(k) * normal(k); }) / count;
    GradientSlot<T>{args.dx + begin, args.add}.put(
        args.length, [=](std::int64_t k) { return (g(k) - mean_g - normal(k) * mean_gn) * args.inverse[row]; });
  }
}

RETRACE_INSTANTIATE_PLAIN(layer_norm, LayerNormRows);
RETRACE_INSTANTIATE_PLAIN(layer_norm_gradient, LayerNormGradientRows);

namespace {

// saved: 0 what n is found from, 1 its mean unless that is y, 2 inverse, 3 gamma, 4 beta for y
void layer_norm_backward(Record& r) {
  const LayerNormAttributes attributes = r.attributes<LayerNormAttributes>();
  const bool from_y = attributes.from_y;
  const int residual = attributes.residual;
  const std::int64_t rows = r.saved(2).numel();
  dispatch_real(r.out(0).dtype, layer_norm_info.name, [&]<class T>(T) {
    const auto sums_of = [&](int input) {
      return input > 0 && r.wants(input) ? r.grad_in<T>(input, Begin::zeroed).values : nullptr;
    };
    const Tensor one_over_gamma = from_y && r.saved(3) ? reciprocal(r.saved(3).tensor()) : Tensor();
    LayerNormGradientRows<T> args{.x = from_y ? nullptr : r.saved(0).values<T>(),
                                  .dy = r.grad_out<T>(),
                                  .gamma = r.saved(3).values<T>(),
                                  .mean = r.saved(1).values<T>(),
                                  .inverse = r.saved(2).values<T>(),
                                  .dx = nullptr,
                                  .dgamma = sums_of(attributes.gamma),  // before dx, which adds if x is gamma or beta
                                  .dbeta = sums_of(attributes.beta),
                                  .rows = rows,
                                  .length = rows == 0 ? 0 : r.in(0).numel() / rows,
                                  .y = from_y ? r.saved(0).values<T>() : nullptr,
                                  .beta = r.saved(4).values<T>(),
                                  .one_over_gamma = values_or_null<T>(one_over_gamma),
                                  .past_cache = is_beyond_cache<T>(r.in(0).numel())};
    Tensor of_sum;  // the gradient of x + residual, which goes to both as it is
    if (residual > 0 && (r.wants(0) || r.wants(residual))) {
      of_sum = r.flow_to_tensor<T>().tensor;
      args.dx = OpAccess::values<T>(of_sum);
    } else if (residual < 0 && r.wants(0)) {
      const GradientSlot<T> dx = r.flow<T>(0).dx;
      args.dx = dx.values, args.add = dx.add;
    }
    layer_norm_gradient_by_blocks(args, r.out(0).dtype);
    for (const int input : {0, residual})
      if (of_sum.defined() && r.wants(input)) r.add(input, of_sum);
  });
}

Tensor normalise(LayerNormOperands in) {
  check(in);
  widen(in.name(), "x", {&in.x, &in.residual, &in.gamma, &in.beta});
  GivenTensors inputs{{in.x}};
  const bool from_y = gives_back_normal(in.name(), in.gamma, in.beta);
  const LayerNormAttributes attributes{.residual = inputs.add(in.residual),
                                       .gamma = inputs.add(in.gamma),
                                       .beta = inputs.add(in.beta),
                                       .axes = in.options.axes,
                                       .eps = in.options.eps,
                                       .from_y = from_y};
  const Tensor y = empty_like(in.x), mean = empty(in.x.shape().first(in.x.rank() - in.options.axes), in.x.dtype());
  const Tensor inverse = empty_like(mean), sum = !in.residual.defined() ? in.x : from_y ? y : empty_like(in.x);
  dispatch_real(in.x.dtype(), in.name(), [&]<class T>(T) {
    const std::int64_t rows = mean.numel();
    layer_norm_of_rows<T>({.x = in.x.values<T>().data(),
                           .gamma = values_or_null<T>(in.gamma),
                           .beta = values_or_null<T>(in.beta),
                           .y = OpAccess::values<T>(y),
                           .mean = OpAccess::values<T>(mean),
                           .inverse = OpAccess::values<T>(inverse),
                           .rows = rows,
                           .length = rows == 0 ? 0 : in.x.numel() / rows,
                           .eps = static_cast<T>(in.options.eps),
                           .residual = values_or_null<T>(in.residual),
                           .sum = in.residual.defined() ? OpAccess::values<T>(sum) : nullptr,
                           .past_cache = is_beyond_cache<T>(in.x.numel())});
  });
  const Tensor* saved_gamma =
      from_y || in.x.wants_gradient() || (in.residual.defined() && in.residual.wants_gradient()) ? &in.gamma : nullptr;
  record(in.info(), layer_norm_backward, inputs.given, {&y},
         {from_y ? &y : &sum, from_y ? nullptr : &mean, &inverse, saved_gamma, from_y ? &in.beta : nullptr},
         attributes);
  return y;
}

}  // namespace

Tensor layer_norm(const Tensor& x, const Tensor& gamma, const Tensor& beta, LayerNormOptions options) {
  return normalise({x, {}, gamma, beta, options});
}

Tensor residual_layer_norm(const Tensor& x, const Tensor& residual, const Tensor& gamma, const Tensor& beta,
                           LayerNormOptions options) {
  check_defined(residual_layer_norm_info.name, x, "x");
  check_defined(residual_layer_norm_info.name, residual, "residual");
  if (expand_fused()) return layer_norm(x + residual, gamma, beta, options);
  return normalise({x, residual, gamma, beta, options});
}

}  // namespace retrace

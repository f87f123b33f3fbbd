#include <retrace/ops/kernels/gemm.h>
#include <retrace/ops/loops/activation.h>
#include <retrace/ops/loops/formula.h>
#include <retrace/ops/loops/operands.h>
#include <retrace/ops/loops/sum_of_rows.h>

namespace retrace {
namespace {

using kernels::gemm;

/// The formulas of an activation: y as a function of z, and dz.
struct ActivationFormulas {
  const char* y;
  const char* dz;
};
// F is an activation, or Identity.
template <class F> constexpr ActivationFormulas activation_formulas{"z", "dy"};
template <> constexpr ActivationFormulas activation_formulas<Relu>{"max(z, 0)", "dy where y > 0, else 0"};
template <> constexpr ActivationFormulas activation_formulas<Tanh>{"tanh z", "dy (1 - y^2)"};
template <> constexpr ActivationFormulas activation_formulas<Sigmoid>{"1 / (1 + e^-z)", "dy y (1 - y)"};
template <> constexpr ActivationFormulas activation_formulas<Gelu>{"gelu(z)", "dy gelu'(z)"};
template <> constexpr ActivationFormulas activation_formulas<GeluTanh>{"gelu_tanh(z)", "dy gelu_tanh'(z)"};

// Without an activation, z is y.
template <class F> Formulas formulas(const Record& r) {
  constexpr bool is_identity = std::is_same_v<F, Identity>;
  const bool has_bias = r.inputs() > 2;
  const std::string z = has_bias ? " = x W^T + b" : " = x W^T", dz = is_identity ? "dy" : "dz";
  std::string backward = text("dx = ", dz, " W, dW = ", dz, "^T x");
  if (has_bias) backward += ", db = " + sum_over_rows(dz, r.in(0).shape.rank(), 1);
  if constexpr (is_identity) return {"y" + z, backward};
  const auto& [y, slope] = activation_formulas<F>;
  return {text("z", z, ", y = ", y), text("dz = ", slope, ", ", backward)};
}

template <class F>
constexpr OpInfo info{"linear", "y = f(x W^T + b)",
                      "dz = dy f'(x W^T + b), dx = dz W, dW = dz^T x, db = sum dz along axis 0", "x, W, b",
                      formulas<F>};

constexpr const char* name = info<Identity>.name;

template <class F> constexpr bool saves_slope() {
  if constexpr (std::is_same_v<F, Identity>)
    return false;
  else
    return F::saves == Saves::slope;
}

std::int64_t rows_of(const Shape& x) { return x.first(x.rank() - 1).numel(); }

template <class F, class T> void apply(T* z, T* slopes, std::int64_t count) {
  if constexpr (saves_slope<F>()) {
    if (slopes != nullptr) return map_values_and_slopes<F>(z, z, slopes, count, {});
  }
  map_values<F>(z, z, count, {});
}

/// dz, from y or the slope, whichever is saved.
template <class F, class T> Tensor gradient_of_z(Record& r) {
  const T* saved = r.saved(2).values<T>();
  const auto [dy, dz] = r.flow_to_tensor<T>();
  T* to = dz.node().template values<T>();
  parallel_for(dz.numel(), unary_grain, [=, dy = dy](std::int64_t begin, std::int64_t end) {
    map_gradients<F, T>(saved + begin, dy + begin, {to + begin, false}, end - begin, {});
  });
  return dz;
}

// saved: 0 x, 1 W, 2 y or the slope
template <class T> void put_gradients(Record& r, const T* dz) {
  const std::int64_t rows = rows_of(r.in(0).shape), out = r.in(1).shape[0], in = r.in(1).shape[1];
  if (r.wants(0)) {
    const GradientSlot<T> dx = r.grad_in<T>(0);
    gemm<T>({rows, in, out}, {dz, out}, {r.saved(1).values<T>(), in}, {dx.values, in, 0, dx.add});
  }
  if (r.wants(1)) {
    const GradientSlot<T> dw = r.grad_in<T>(1);
    gemm<T>({out, in, rows}, {dz, out, true}, {r.saved(0).values<T>(), in}, {dw.values, in, 0, dw.add});
  }
  if (r.inputs() > 2 && r.wants(2)) put_sum_of_rows(dz, rows, out, r.grad_in<T>(2));
}

template <class F> void backward(Record& r) {
  dispatch_real(r.out(0).dtype, name, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_same_v<F, Identity>)
      put_gradients<T>(r, r.grad_out<T>());
    else
      put_gradients<T>(r, gradient_of_z<F, T>(r).node().template values<T>());
  });
}

void check(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  const auto operands = [&] { return text(describe_operand("x", x), " and ", describe_operand("W", weight)); };
  if (weight.rank() != 2)
    throw ShapeError(text("linear: ", describe_operand("W", weight), " must be a matrix [out, in]; reshape it"));
  if (x.rank() == 0 || x.dim(-1) != weight.dim(1))
    throw ShapeError(
        text("linear: ", operands(), ": x must be [..., in] for W [out, in]; transpose or reshape one of them"));
  if (bias.defined() && bias.shape() != Shape{weight.dim(0)})
    throw ShapeError(text("linear: ", operands(), " with ", describe_operand("b", bias), ": b must be [", weight.dim(0),
                          "], one number an output"));
  check_dtypes(name, x, weight, "x", "W");
  if (bias.defined()) check_dtypes(name, x, bias, "x", "b");
  check_real(name, x);
}

bool is_recorded(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  return Tape::current() != nullptr &&
         (x.wants_gradient() || weight.wants_gradient() || (bias.defined() && bias.wants_gradient()));
}

template <class F> Tensor fused(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  const std::int64_t rows = rows_of(x.shape()), out = weight.dim(0), in = weight.dim(1);
  Tensor y, slopes;
  dispatch_real(x.dtype(), name, [&](auto zero) {
    using T = decltype(zero);
    y = empty(x.shape().replaced(x.rank() - 1, out), x.dtype(), name);
    kernels::GemmResult<T> result{.data = y.node().template values<T>(), .row_stride = out};
    if (bias.defined()) result.bias = bias.values<T>().data();
    if constexpr (!std::is_same_v<F, Identity>) result.activation = apply<F, T>;
    if (saves_slope<F>() && is_recorded(x, weight, bias)) {
      slopes = empty_like(y);
      result.slopes = slopes.node().template values<T>();
    }
    gemm<T>({rows, out, in}, {x.values<T>().data(), in}, {weight.values<T>().data(), in, true}, result);
  });
  const Tensor* saved_x = weight.wants_gradient() ? &x : nullptr;
  const Tensor* saved_weight = x.wants_gradient() ? &weight : nullptr;
  const Tensor* saved_slope = std::is_same_v<F, Identity> ? nullptr : saves_slope<F>() ? &slopes : &y;
  if (bias.defined())
    record(info<F>, backward<F>, {&x, &weight, &bias}, {&y}, {saved_x, saved_weight, saved_slope});
  else
    record(info<F>, backward<F>, {&x, &weight}, {&y}, {saved_x, saved_weight, saved_slope});
  return y;
}

}  // namespace

Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias, Activation activation) {
  check_defined(name, x, "x");
  check_defined(name, weight, "W");
  check(x, weight, bias);
  const bool mixed = x.dtype() != weight.dtype() || (bias.defined() && bias.dtype() != weight.dtype());
  if (mixed || expand_fused()) {  // the composed twin
    const Tensor product = matmul(x, weight, {.transpose_b = true});
    return activate(bias.defined() ? add(product, bias) : product, activation);
  }
  return dispatch_activation(activation, [&]<class F>(F) { return fused<F>(x, weight, bias); });
}

}  // namespace retrace

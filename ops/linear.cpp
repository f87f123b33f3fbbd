#include <retrace/ops/kernels/strong_zeros.h>
#include <retrace/ops/loops/activation.h>
#include <retrace/ops/loops/sum_of_rows.h>

namespace retrace {
namespace {

struct LinearAttributes {
  Activation activation;
  Zeros zeros;
};

// Without an activation, z is y.
Formulas linear_formulas(const Record& r) {
  const ActivationParts* f = parts_of(r.attributes<LinearAttributes>().activation);
  const bool has_bias = r.inputs() > 2;
  const std::string z = has_bias ? " = x W^T + b" : " = x W^T", dz = f == nullptr ? "dy" : "dz";
  std::string linear_backward = text("dx = ", dz, " W, dW = ", dz, "^T x");
  if (has_bias) linear_backward += ", db = " + sum_over_rows(dz, r.in(0).shape.rank(), 1);
  if (f == nullptr) return {"y" + z, linear_backward};
  return {text("z", z, ", y = ", f->y), text("dz = ", f->dz, ", ", linear_backward)};
}

AttributeList linear_attributes(const Record& r) {
  const auto [activation, zeros] = r.attributes<LinearAttributes>();
  return with_zeros({{"activation", name_of(activation)}}, zeros);
}

constexpr OpInfo linear_info{
    "linear",  "y = f(x W^T + b)", "dz = dy f'(x W^T + b), dx = dz W, dW = dz^T x, db = sum dz along axis 0",
    "x, W, b", linear_formulas,    linear_attributes};

struct Sizes {
  std::int64_t rows, in, out;

  Sizes(const Shape& x, const Shape& weight) : rows(x.first(x.rank() - 1).numel()), in(weight[1]), out(weight[0]) {}
};

// z = x W^T + b
template <class T> void forward_plain(const Sizes& n, const T* x, const T* weight, const T* bias, T* z) {
  for (std::int64_t row = 0; row < n.rows; ++row)
    for (std::int64_t o = 0; o < n.out; ++o) {
      T sum = bias == nullptr ? T(0) : bias[o];
      for (std::int64_t i = 0; i < n.in; ++i) sum += x[row * n.in + i] * weight[o * n.in + i];
      z[row * n.out + o] = sum;
    }
}

// dx += dz W, dW += dz^T x, db += sum dz; each where it is wanted, else null
template <class T>
void backward_plain(const Sizes& n, const T* x, const T* weight, const T* dz, T* dx, T* dweight, T* dbias,
                    Zeros zeros) {
  for (std::int64_t row = 0; row < n.rows; ++row)
    for (std::int64_t o = 0; o < n.out; ++o) {
      const T now = dz[row * n.out + o];
      for (std::int64_t i = 0; i < n.in; ++i) {
        if (dx != nullptr) dx[row * n.in + i] += now * weight[o * n.in + i];
        if (dweight != nullptr) dweight[o * n.in + i] += product(zeros, now, x[row * n.in + i]);
      }
      if (dbias != nullptr) dbias[o] += now;
    }
}

// y = f(z) and, where they are saved, slopes = f'(z). The product applies f to each block of rows that it finishes.
template <class T>
void linear_forward(const Sizes& n, const Tensor& x, const Tensor& weight, const Tensor& bias, const ActivationParts* f,
                    const Tensor& y, const Tensor& slopes) {
  const T *from = x.values<T>().data(), *w = weight.values<T>().data();
  const T* b = bias.defined() ? bias.values<T>().data() : nullptr;
  T *to = OpAccess::values<T>(y), *to_slopes = slopes.defined() ? OpAccess::values<T>(slopes) : nullptr;
  const kernels::ActivationFunction<T> apply = f == nullptr ? nullptr : f->of<T>().apply;
  if constexpr (std::is_floating_point_v<T>) {
    kernels::gemm<T>({n.rows, n.out, n.in}, {from, n.in}, {w, n.in, true},
                     {.data = to, .row_stride = n.out, .bias = b, .activation = apply, .slopes = to_slopes});
  } else {
    forward_plain(n, from, w, b, to);
    if (apply != nullptr) apply(to, to_slopes, n.rows * n.out);
  }
}

// Where a strong zero of dy meets a slope that may be NaN. (dz may take the place of dy.)
template <class T>
[[gnu::noinline, gnu::cold]] std::vector<std::int64_t> hidden_slopes(const T* saved, const T* dy, std::int64_t begin,
                                                                     std::int64_t end) {
  std::vector<std::int64_t> result;
  if constexpr (std::is_floating_point_v<T>)
    for (std::int64_t k = begin; k < end; ++k)
      if (!std::isfinite(saved[k]) && dy[k] == 0) result.push_back(k);
  return result;
}

// dz = dy f'(z), from what is saved: 0 x, 1 W, 2 y or the slope
template <class T> Tensor gradient_of_z(Record& r, const ActivationParts& f) {
  const T* saved = r.saved(2).values<T>();
  const auto [dy, dz] = r.flow_to_tensor<T>();
  T* to = OpAccess::values<T>(dz);
  const bool strong = r.attributes<LinearAttributes>().zeros == Zeros::strong;
  parallel_for(dz.numel(), unary_grain, [=, &f, dy = dy](std::int64_t begin, std::int64_t end) {
    const std::vector<std::int64_t> hidden =
        strong ? hidden_slopes(saved, dy, begin, end) : std::vector<std::int64_t>();
    f.of<T>().gradient(saved + begin, dy + begin, to + begin, end - begin);
    for (const std::int64_t k : hidden) to[k] = T(0);
  });
  return dz;
}

template <class T> void put_gradients(Record& r, const T* dz) {
  const Sizes n(r.in(0).shape, r.in(1).shape);
  const T* x = r.wants(1) ? r.saved(0).values<T>() : nullptr;
  const T* weight = r.wants(0) ? r.saved(1).values<T>() : nullptr;
  const bool wants_bias = r.inputs() > 2 && r.wants(2);
  const Zeros zeros = r.attributes<LinearAttributes>().zeros;
  if constexpr (std::is_floating_point_v<T>) {
    if (r.wants(0)) {
      const GradientSlot<T> dx = r.grad_in<T>(0);
      kernels::gemm<T>({n.rows, n.in, n.out}, {dz, n.out}, {weight, n.in}, {dx.values, n.in, 0, dx.add});
    }
    if (r.wants(1)) {
      const GradientSlot<T> dweight = r.grad_in<T>(1);
      kernels::gemm<T>(zeros, {n.out, n.in, n.rows}, {dz, n.out, true}, {x, n.in},
                       {dweight.values, n.in, 0, dweight.add});
    }
    if (wants_bias) put_sum_of_rows(dz, n.rows, n.out, r.grad_in<T>(2));
  } else {
    const auto slot = [&](int i, bool wanted) { return wanted ? r.grad_in<T>(i, Begin::zeroed).values : nullptr; };
    T *dx = slot(0, r.wants(0)), *dweight = slot(1, r.wants(1)), *dbias = slot(2, wants_bias);
    backward_plain(n, x, weight, dz, dx, dweight, dbias, zeros);
  }
}

void linear_backward(Record& r) {
  dispatch_real(r.out(0).dtype, linear_info.name, [&]<class T>(T) {
    if (const ActivationParts* f = parts_of(r.attributes<LinearAttributes>().activation))
      put_gradients<T>(r, gradient_of_z<T>(r, *f).template values<T>().data());
    else
      put_gradients<T>(r, r.grad_out<T>());
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
                          "], one number per output"));
  check_dtypes(linear_info.name, x, weight, "x", "W");
  if (bias.defined()) check_dtypes(linear_info.name, x, bias, "x", "b");
  check_real(linear_info.name, x);
}

bool is_recorded(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  return Tape::current() != nullptr &&
         (x.wants_gradient() || weight.wants_gradient() || (bias.defined() && bias.wants_gradient()));
}

Tensor fused(const Tensor& x, const Tensor& weight, const Tensor& bias, const LinearAttributes& attributes) {
  const ActivationParts* f = parts_of(attributes.activation);
  const bool saves_slope = f != nullptr && f->saves_slope;
  Tensor y, slopes;
  dispatch_real(x.dtype(), linear_info.name, [&]<class T>(T) {
    y = empty(x.shape().replaced(x.rank() - 1, weight.dim(0)), x.dtype(), linear_info.name);
    if (saves_slope && is_recorded(x, weight, bias)) slopes = empty_like(y);
    linear_forward<T>(Sizes(x.shape(), weight.shape()), x, weight, bias, f, y, slopes);
  });
  const Tensor* saved_x = weight.wants_gradient() ? &x : nullptr;
  const Tensor* saved_weight = x.wants_gradient() ? &weight : nullptr;
  const Tensor* saved_slope = f == nullptr ? nullptr : saves_slope ? &slopes : &y;
  if (bias.defined())
    record(linear_info, linear_backward, {&x, &weight, &bias}, {&y}, {saved_x, saved_weight, saved_slope}, attributes);
  else
    record(linear_info, linear_backward, {&x, &weight}, {&y}, {saved_x, saved_weight, saved_slope}, attributes);
  return y;
}

}  // namespace

Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias, Activation activation, Zeros zeros) {
  check_defined(linear_info.name, x, "x");
  check_defined(linear_info.name, weight, "W");
  check(x, weight, bias);
  const bool mixed = x.dtype() != weight.dtype() || (bias.defined() && bias.dtype() != weight.dtype());
  if (mixed || expand_fused()) {  // the composed twin
    const Tensor product = matmul(x, weight, {.transpose_b = true, .zeros = zeros});
    return activate(bias.defined() ? add(product, bias) : product, activation);
  }
  return fused(x, weight, bias, {activation, zeros});
}

}  // namespace retrace

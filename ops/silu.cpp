// silu, and swiglu, which takes silu of one half and multiplies it by the other.
#include <retrace/ops/loops/formula.h>
#include <retrace/ops/loops/logistic.h>
#include <retrace/ops/loops/unary.h>
#include <retrace/ops/ops.h>

namespace retrace {
namespace {

struct Silu {
  static constexpr OpInfo info{"silu", "s = 1 / (1 + e^-x), y = x s", "dx = dy (s + x s (1 - s))", "x"};
  using Attributes = NoAttributes;
  static constexpr Saves saves = Saves::x;

  template <class T> static T value(T x, Attributes) { return x * logistic(x); }
  template <class T> static T slope(T x, T, Attributes) { return logistic(x) + x * logistic_slope(x); }
};

Formulas swiglu_formulas(const Record& r) {
  const std::int64_t n = r.out(0).shape[-1];
  const std::string first = text("[..., 0:", n, "]"), second = text("[..., ", n, ":", 2 * n, "]");
  return {text("a = x", first, ", b = x", second, ", s = 1 / (1 + e^-a), y = a s b"),
          text("dx", first, " = dy b (s + a s (1 - s)), dx", second, " = dy a s")};
}
constexpr OpInfo swiglu_info{"swiglu", "a = x[..., 0:n], b = x[..., n:2 n], s = 1 / (1 + e^-a), y = a s b",
                             "dx[..., 0:n] = dy b (s + a s (1 - s)), dx[..., n:2 n] = dy a s", "x", swiglu_formulas};

/// body(row) for every row of y, over threads.
template <class Body> void for_each_row(const Shape& y, Body&& body) {
  const std::int64_t features = y[-1], rows = features == 0 ? 0 : y.numel() / features;
  parallel_for(rows, unary_grain / (features + 1) + 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) body(row);
  });
}

void swiglu_backward(Record& r) {
  const Shape& shape = r.out(0).shape;
  const std::int64_t features = shape[-1];
  dispatch_real(r.in(0).dtype, swiglu_info.name, [&](auto zero) {
    using T = decltype(zero);
    const T* x = r.saved(0).values<T>();
    const T* dy = r.grad_out<T>();
    const GradientSlot<T> dx = r.grad_in<T>(0);
    for_each_row(shape, [=](std::int64_t row) {
      const T *a = x + row * 2 * features, *b = a + features, *g = dy + row * features;
      const GradientSlot<T> da = dx.from(row * 2 * features), db = dx.from((row * 2 + 1) * features);
      for (std::int64_t k = 0; k < features; ++k) {  // one loop, so that e^-|a| is computed once
        const T gate = a[k], value = b[k], dy_k = g[k];
        da.put_at(k, dy_k * value * Silu::slope(gate, T{}, {}));
        db.put_at(k, dy_k * Silu::value(gate, {}));
      }
    });
  });
}

}  // namespace

Tensor silu(const Tensor& x) { return unary<Silu>(x); }

Tensor swiglu(const Tensor& x) {
  check_defined(swiglu_info.name, x, "x");
  check_real(swiglu_info.name, x);
  if (x.rank() == 0 || x.dim(-1) % 2 != 0)
    throw ShapeError(text("swiglu: ", describe_operand("x", x),
                          " has no two halves; its last axis must be even, a gate beside each value"));
  const std::int64_t features = x.dim(-1) / 2;
  Tensor y;
  dispatch_real(x.dtype(), swiglu_info.name, [&](auto zero) {
    using T = decltype(zero);
    y = empty(x.shape().replaced(x.rank() - 1, features), x.dtype());
    const T* from = x.values<T>().data();
    T* to = y.mutable_values<T>().data();
    for_each_row(y.shape(), [=](std::int64_t row) {
      const T *a = from + row * 2 * features, *b = a + features;
      for (std::int64_t k = 0; k < features; ++k) to[row * features + k] = Silu::value(a[k], {}) * b[k];
    });
  });
  record(swiglu_info, swiglu_backward, {&x}, {&y}, {&x});
  return y;
}

}  // namespace retrace

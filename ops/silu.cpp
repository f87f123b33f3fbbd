// silu, and swiglu, which takes silu of one half and multiplies it by the other.
#include <retrace/ops/loops/logistic.h>
#include <retrace/ops/loops/unary.h>

namespace retrace {
namespace {

struct Silu {
  static constexpr OpInfo info{"silu", "s = 1 / (1 + e^-x), y = x s", "dx = dy (s + x s (1 - s))", "x"};
  static constexpr Saves saves = Saves::x;

  template <class T> static T value(T x) { return at_least_lowest(x) * logistic(x); }
  template <class T> static T slope(T x, T) { return logistic(x) + finite_or_nan(x) * logistic_slope(x); }
  template <class T> static constexpr auto kernel = &kernels::MapKernels<T>::silu;
  template <class T> static constexpr auto gradient_kernel = &kernels::MapKernels<T>::silu_gradient;
};

Formulas swiglu_formulas(const Record& r) {
  const std::int64_t n = r.out(0).shape[-1];
  const std::string first = text("[..., 0:", n, "]"), second = text("[..., ", n, ":", 2 * n, "]");
  return {text("a = x", first, ", b = x", second, ", s = 1 / (1 + e^-a), y = a s b"),
          text("dx", first, " = dy b (s + a s (1 - s)), dx", second, " = dy a s")};
}
constexpr OpInfo swiglu_info{"swiglu", "a = x[..., 0:n], b = x[..., n:2 n], s = 1 / (1 + e^-a), y = a s b",
                             "dx[..., 0:n] = dy b (s + a s (1 - s)), dx[..., n:2 n] = dy a s", "x", swiglu_formulas};

/// body(first, last) for ranges of the rows of y, over threads.
template <class Body> void for_ranges_of_rows(const Shape& y, Body&& body) {
  const std::int64_t features = y[-1], rows = features == 0 ? 0 : y.numel() / features;
  parallel_for(rows, unary_grain / (features + 1) + 1, body);
}

// The loops and bits are those of silu and mul.
void swiglu_backward(Record& r) {
  const Shape& shape = r.out(0).shape;
  const std::int64_t features = shape[-1];
  dispatch_real(r.in(0).dtype, swiglu_info.name, [&]<class T>(T) {
    const T* x = r.saved(0).values<T>();
    const T* dy = r.grad_out<T>();
    const GradientSlot<T> dx = r.grad_in<T>(0);
    for_ranges_of_rows(shape, [=](std::int64_t first, std::int64_t last) {
      constexpr std::int64_t longest_part = 256;
      std::array<T, longest_part> part;  // dy b, then a s
      for (std::int64_t row = first; row < last; ++row)
        for (std::int64_t begin = 0; begin < features; begin += longest_part) {
          const std::int64_t count = std::min(longest_part, features - begin), at = row * 2 * features + begin;
          const T *a = x + at, *b = a + features, *g = dy + row * features + begin, *value = part.data();
          for (std::int64_t k = 0; k < count; ++k) part[static_cast<std::size_t>(k)] = g[k] * b[k];
          map_gradients<Silu, T>(a, value, dx.from(at), count, {});
          map_values<Silu, T>(a, part.data(), count, {});
          dx.from(at + features).put(count, [=](std::int64_t k) { return g[k] * value[k]; });
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
  dispatch_real(x.dtype(), swiglu_info.name, [&]<class T>(T) {
    y = empty(x.shape().replaced(x.rank() - 1, features), x.dtype());
    const T* from = x.values<T>().data();
    T* to = OpAccess::values<T>(y);
    for_ranges_of_rows(y.shape(), [=](std::int64_t first, std::int64_t last) {
      for (std::int64_t row = first; row < last; ++row) {
        const T *a = from + row * 2 * features, *b = a + features;
        T* result = to + row * features;
        map_values<Silu, T>(a, result, features, {});
        for (std::int64_t k = 0; k < features; ++k) result[k] *= b[k];
      }
    });
  });
  record(swiglu_info, swiglu_backward, {&x}, {&y}, {&x});
  return y;
}

}  // namespace retrace

// Compiled once for each instruction set; see isa.h.
#include <retrace/ops/kernels/isa_functions.h>
#include <retrace/ops/kernels/isa_rows.h>

#include <cmath>

namespace retrace::kernels::RETRACE_ISA_NAMESPACE {
namespace {

template <class T> [[gnu::always_inline]] inline T largest_of_row(const T* x, Index length) {
  Vector<T> max_x = every_lane(static_cast<T>(-infinity));
  for_each_vector<T>(length, [&](Index k, auto part) {
    max_x = larger<T>(part.keep(part.load_from(x + k), static_cast<T>(-infinity)), max_x);
  });
  return largest_lane<T>(max_x);
}

/// y = scale x, rounded as it would be for a mask to be added, and its largest element.
template <class T> [[gnu::always_inline]] inline T scale_row(const T* x, T* y, Index length, T scale) {
  Vector<T> max_x = every_lane(static_cast<T>(-infinity));
  for_each_vector<T>(length, [&](Index k, auto part) {
    const Vector<T> scaled = part.load_from(x + k) * scale;
    part.store_to(y + k, scaled);
    max_x = larger<T>(part.keep(scaled, static_cast<T>(-infinity)), max_x);
  });
  return largest_lane<T>(max_x);
}

/// y = e^(x - most), and 1 / sum y. A row of which nothing is left gets zeros instead, and NaN stays.
template <class T> [[gnu::always_inline]] inline T exponentials_of_row(const T* x, T* y, Index length, T max_x) {
  if (max_x == static_cast<T>(-infinity)) {
    for (Index k = 0; k < length; ++k) y[k] = x[k] == max_x ? T(0) : x[k];
    return T(1);
  }
  const double sum = sum_of_row<T>(length, [&](Index k, auto part) {
    const Vector<T> e = vector_exp_of_negative<T>(part.load_from(x + k) - max_x);
    part.store_to(y + k, e);
    return e;
  });
  return T(1) / static_cast<T>(sum);
}

/// a b; with strong zeros each factor is 0 where the other is. (Selecting the product itself would keep the compiler
/// from fusing it with the sum, which it does for ordinary zeros.)
template <bool strong, class T> [[gnu::always_inline]] inline Vector<T> product(Vector<T> a, Vector<T> b) {
  if constexpr (strong)
    return unless_zero<T>(b, a) * unless_zero<T>(a, b);
  else
    return a * b;
}

template <bool strong, class T> [[gnu::always_inline]] inline T product_of_rows(const T* y, const T* dy, Index length) {
  return static_cast<T>(sum_of_row<T>(
      length, [&](Index k, auto part) { return product<strong, T>(part.load_from(dy + k), part.load_from(y + k)); }));
}

template <bool strong, class T>
[[gnu::always_inline]] inline void softmax_gradient_row(const SoftmaxGradientRows<T>& args, Index begin, T dot) {
  const T *y = args.y + begin, *dy = args.dy + begin;
  T* dx = args.dx + begin;
  for_each_vector<T>(args.length, [&](Index k, auto part) {
    const Vector<T> slope = product<strong, T>(part.load_from(y + k), part.load_from(dy + k) - dot) * args.scale;
    part.store_to(dx + k, args.add ? part.load_from(dx + k) + slope : slope);
  });
}

/// A row whose sum dy y is not finite: only there can a product with 0 have been NaN.
template <class T> [[gnu::noinline]] void strong_gradient_row(const SoftmaxGradientRows<T>& args, Index begin) {
  softmax_gradient_row<true>(args, begin, product_of_rows<true>(args.y + begin, args.dy + begin, args.length));
}

template <class T> void softmax_group(SoftmaxRows<T> args, Index first, Index count) {
  const T* x = args.x + first * args.length;
  T* y = args.y + first * args.length;
  T max_x[max_rows_at_once], one_over_sum[max_rows_at_once];
  for (Index i = 0; i < count; ++i)
    max_x[i] = args.scale == T(1)
                   ? largest_of_row(x + i * args.length, args.seen(first + i))
                   : scale_row(x + i * args.length, y + i * args.length, args.seen(first + i), args.scale);
  const T* scaled = args.scale == T(1) ? x : y;
  for (Index i = 0; i < count; ++i)
    one_over_sum[i] =
        exponentials_of_row(scaled + i * args.length, y + i * args.length, args.seen(first + i), max_x[i]);
  for (Index i = 0; i < count; ++i) {
    T* row = y + i * args.length;
    const Index seen = args.seen(first + i);
    for_each_vector<T>(
        seen, [row, s = one_over_sum[i]](Index k, auto part) { part.store_to(row + k, part.load_from(row + k) * s); });
    for_each_vector<T>(args.length - seen,
                       [hidden = row + seen](Index k, auto part) { part.store_to(hidden + k, Vector<T>{}); });
  }
}

template <class T> void softmax_gradient_group(SoftmaxGradientRows<T> args, Index first, Index count) {
  T dot[max_rows_at_once];
  for (Index i = 0; i < count; ++i) {
    const Index begin = (first + i) * args.length;
    dot[i] = product_of_rows<false>(args.y + begin, args.dy + begin, args.length);
  }
  for (Index i = 0; i < count; ++i) {
    const Index begin = (first + i) * args.length;
    if (__builtin_isfinite(dot[i])) [[likely]]
      softmax_gradient_row<false>(args, begin, dot[i]);
    else
      strong_gradient_row(args, begin);
  }
}

}  // namespace

template <class T> void run(const SoftmaxRows<T>& args) {
  for_each_group<T>(args.rows, args.length, [&](Index first, Index count) { softmax_group(args, first, count); });
}

template <class T> void run(const SoftmaxGradientRows<T>& args) {
  for_each_group<T>(args.rows, args.length,
                    [&](Index first, Index count) { softmax_gradient_group(args, first, count); });
}

template <class T> void run(const LogSumExpRows<T>& args) {
  for (Index row = 0; row < args.rows; ++row) {
    const T* x = args.x + row * args.length;
    const T max_x = largest_of_row(x, args.length);
    const double sum = sum_of_row<T>(
        args.length, [&](Index k, auto part) { return vector_exp_of_negative<T>(part.load_from(x + k) - max_x); });
    args.max_x[row] = max_x;
    args.log_sums[row] = static_cast<T>(std::log(sum));
    args.inverse_sums[row] = static_cast<T>(1 / sum);
  }
}

template <class T> void run(const ScaledExp<T>& shared) {
  const ScaledExp<T> args = shared;  // a copy whose fields no store can change
  for_each_vector<T>(args.count, [&](Index k, auto part) {
    const Vector<T> value = args.factor * vector_exp<T>(part.load_from(args.x + k) - args.shift);
    part.store_to(args.y + k, args.add ? part.load_from(args.y + k) + value : value);
  });
}

RETRACE_INSTANTIATE_KERNEL(SoftmaxRows);
RETRACE_INSTANTIATE_KERNEL(SoftmaxGradientRows);
RETRACE_INSTANTIATE_KERNEL(LogSumExpRows);
RETRACE_INSTANTIATE_KERNEL(ScaledExp);

}  // namespace retrace::kernels::RETRACE_ISA_NAMESPACE

// Compiled once for each instruction set; see isa.h.
#include <retrace/ops/kernels/isa_functions.h>
#include <retrace/ops/kernels/isa_rows.h>

#include <cmath>

namespace retrace::kernels::RETRACE_ISA_NAMESPACE {
namespace {

template <class T> [[gnu::always_inline]] inline T largest_of_row(const T* x, Index length) {
  Vector<T> most = every_lane(static_cast<T>(-infinity));
  for_each_vector<T>(length, [&](Index k, auto part) {
    most = larger<T>(part.keep(part.load_from(x + k), static_cast<T>(-infinity)), most);
  });
  return largest_lane<T>(most);
}

/// y = scale x, rounded as it would be for a mask to be added, and its largest element.
template <class T> [[gnu::always_inline]] inline T scale_row(const T* x, T* y, Index length, T scale) {
  Vector<T> most = every_lane(static_cast<T>(-infinity));
  for_each_vector<T>(length, [&](Index k, auto part) {
    const Vector<T> scaled = part.load_from(x + k) * scale;
    part.store_to(y + k, scaled);
    most = larger<T>(part.keep(scaled, static_cast<T>(-infinity)), most);
  });
  return largest_lane<T>(most);
}

/// y = e^(x - most), and 1 / sum y. A row of which nothing is left gets zeros instead, and NaN stays.
template <class T> [[gnu::always_inline]] inline T exponentials_of_row(const T* x, T* y, Index length, T most) {
  if (most == static_cast<T>(-infinity)) {
    for (Index k = 0; k < length; ++k) y[k] = x[k] == most ? T(0) : x[k];
    return T(1);
  }
  const double sum = sum_of_row<T>(length, [&](Index k, auto part) {
    const Vector<T> e = vector_exp_of_negative<T>(part.load_from(x + k) - most);
    part.store_to(y + k, e);
    return e;
  });
  return T(1) / static_cast<T>(sum);
}

template <class T> [[gnu::always_inline]] inline T product_of_rows(const T* y, const T* dy, Index length) {
  return static_cast<T>(
      sum_of_row<T>(length, [&](Index k, auto part) { return part.load_from(dy + k) * part.load_from(y + k); }));
}

template <class T>
[[gnu::always_inline]] inline void softmax_gradient_row(const SoftmaxGradientRows<T>& at, Index begin, T dot) {
  const T *y = at.y + begin, *dy = at.dy + begin;
  T* dx = at.dx + begin;
  for_each_vector<T>(at.length, [&](Index k, auto part) {
    const Vector<T> slope = part.load_from(y + k) * (part.load_from(dy + k) - dot) * at.scale;
    part.store_to(dx + k, at.add ? part.load_from(dx + k) + slope : slope);
  });
}

template <class T> void softmax_group(SoftmaxRows<T> at, Index first, Index count) {
  const T* x = at.x + first * at.length;
  T* y = at.y + first * at.length;
  T most[most_rows_at_once], one_over_sum[most_rows_at_once];
  for (Index i = 0; i < count; ++i)
    most[i] = at.scale == T(1) ? largest_of_row(x + i * at.length, at.length)
                               : scale_row(x + i * at.length, y + i * at.length, at.length, at.scale);
  const T* scaled = at.scale == T(1) ? x : y;
  for (Index i = 0; i < count; ++i)
    one_over_sum[i] = exponentials_of_row(scaled + i * at.length, y + i * at.length, at.length, most[i]);
  for (Index i = 0; i < count; ++i)
    for_each_vector<T>(at.length, [row = y + i * at.length, s = one_over_sum[i]](Index k, auto part) {
      part.store_to(row + k, part.load_from(row + k) * s);
    });
}

template <class T> void softmax_gradient_group(SoftmaxGradientRows<T> at, Index first, Index count) {
  T dot[most_rows_at_once];
  for (Index i = 0; i < count; ++i) {
    const Index begin = (first + i) * at.length;
    dot[i] = product_of_rows(at.y + begin, at.dy + begin, at.length);
  }
  for (Index i = 0; i < count; ++i) softmax_gradient_row(at, (first + i) * at.length, dot[i]);
}

}  // namespace

template <class T> void softmax_rows(const SoftmaxRows<T>& at) {
  for_each_group<T>(at.rows, at.length, [&](Index first, Index count) { softmax_group(at, first, count); });
}

template <class T> void softmax_gradient_rows(const SoftmaxGradientRows<T>& at) {
  for_each_group<T>(at.rows, at.length, [&](Index first, Index count) { softmax_gradient_group(at, first, count); });
}

template <class T> void log_sum_exp_rows(const LogSumExpRows<T>& at) {
  for (Index row = 0; row < at.rows; ++row) {
    const T* x = at.x + row * at.length;
    const T most = largest_of_row(x, at.length);
    const double sum = sum_of_row<T>(
        at.length, [&](Index k, auto part) { return vector_exp_of_negative<T>(part.load_from(x + k) - most); });
    at.sums[row] = most + static_cast<T>(std::log(sum));
  }
}

template <class T> void scaled_exp(const ScaledExp<T>& args) {
  const ScaledExp<T> at = args;  // a copy whose fields no store can change
  for_each_vector<T>(at.count, [&](Index k, auto part) {
    const Vector<T> value = at.factor * vector_exp<T>(part.load_from(at.x + k) - at.shift);
    part.store_to(at.y + k, at.add ? part.load_from(at.y + k) + value : value);
  });
}

template void softmax_rows(const SoftmaxRows<float>&);
template void softmax_rows(const SoftmaxRows<double>&);
template void softmax_gradient_rows(const SoftmaxGradientRows<float>&);
template void softmax_gradient_rows(const SoftmaxGradientRows<double>&);
template void log_sum_exp_rows(const LogSumExpRows<float>&);
template void log_sum_exp_rows(const LogSumExpRows<double>&);
template void scaled_exp(const ScaledExp<float>&);
template void scaled_exp(const ScaledExp<double>&);

}  // namespace retrace::kernels::RETRACE_ISA_NAMESPACE

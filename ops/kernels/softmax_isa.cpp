// Compiled once for each instruction set; see isa.h.
#include <retrace/ops/kernels/isa_functions.h>
#include <retrace/ops/kernels/isa_rows.h>

#include <cmath>

namespace retrace::kernels::RETRACE_ISA_NAMESPACE {
namespace {

template <class T>
[[gnu::always_inline]] inline T largest_of_row(const T* x, Index length) {
  Vector<T> most = every_lane(static_cast<T>(-infinity));
  for_each_vector<T>(length, [&](Index k, auto part) {
    most = larger<T>(part.keep(part.load_from(x + k), static_cast<T>(-infinity)), most);
  });
  return largest_lane<T>(most);
}

/// y = scale x, rounded as it would be for a mask to be added, and its largest element.
template <class T>
[[gnu::always_inline]] inline T scale_row(const T* x, T* y, Index length, T scale) {
  Vector<T> most = every_lane(static_cast<T>(-infinity));
  for_each_vector<T>(length, [&](Index k, auto part) {
    const Vector<T> scaled = part.load_from(x + k) * scale;
    part.store_to(y + k, scaled);
    most = larger<T>(part.keep(scaled, static_cast<T>(-infinity)), most);
  });
  return largest_lane<T>(most);
}

template <class T>
void softmax_row(const T* x, T* y, Index length, T scale) {
  const T most = scale == T(1) ? largest_of_row(x, length) : scale_row(x, y, length, scale);
  const T* from = scale == T(1) ? x : y;
  if (most == static_cast<T>(-infinity)) {  // nothing is left of this row; NaN stays
    for (Index k = 0; k < length; ++k) y[k] = from[k] == most ? T(0) : from[k];
    return;
  }
  VectorSum<T> sum;
  for_each_vector<T>(length, [&](Index k, auto part) {
    const Vector<T> e = vector_exp_of_negative<T>(part.load_from(from + k) - most);
    part.store_to(y + k, e);
    sum.add(part.keep(e, T(0)));
  });
  const T one_over_sum = T(1) / static_cast<T>(sum.total());
  for_each_vector<T>(length, [&](Index k, auto part) { part.store_to(y + k, part.load_from(y + k) * one_over_sum); });
}

template <class T, bool Add>
void softmax_gradient_row(const T* y, const T* dy, T* dx, Index length, T scale) {
  VectorSum<T> products;
  for_each_vector<T>(length, [&](Index k, auto part) { products.add(part.load_from(dy + k) * part.load_from(y + k)); });
  const T dot = static_cast<T>(products.total());
  for_each_vector<T>(length, [&](Index k, auto part) {
    const Vector<T> slope = part.load_from(y + k) * (part.load_from(dy + k) - dot) * scale;
    part.store_to(dx + k, Add ? part.load_from(dx + k) + slope : slope);
  });
}

}  // namespace

template <class T>
void softmax_rows(const SoftmaxRows<T>& at) {
  for (Index first = 0; first < at.rows * at.length; first += at.length)
    softmax_row(at.x + first, at.y + first, at.length, at.scale);
}

template <class T>
void softmax_gradient_rows(const SoftmaxGradientRows<T>& at) {
  const auto row = at.add ? softmax_gradient_row<T, true> : softmax_gradient_row<T, false>;
  for (Index first = 0; first < at.rows * at.length; first += at.length)
    row(at.y + first, at.dy + first, at.dx + first, at.length, at.scale);
}

template <class T>
void log_sum_exp_rows(const LogSumExpRows<T>& at) {
  for (Index row = 0; row < at.rows; ++row) {
    const T* x = at.x + row * at.length;
    const T most = largest_of_row(x, at.length);
    VectorSum<T> sum;
    for_each_vector<T>(at.length, [&](Index k, auto part) {
      sum.add(part.keep(vector_exp_of_negative<T>(part.load_from(x + k) - most), T(0)));
    });
    at.sums[row] = most + static_cast<T>(std::log(sum.total()));
  }
}

template <class T>
void scaled_exp(const T* x, T shift, T factor, T* y, Index count, bool add) {
  for_each_vector<T>(count, [&](Index k, auto part) {
    const Vector<T> value = factor * vector_exp<T>(part.load_from(x + k) - shift);
    part.store_to(y + k, add ? part.load_from(y + k) + value : value);
  });
}

template void softmax_rows(const SoftmaxRows<float>&);
template void softmax_rows(const SoftmaxRows<double>&);
template void softmax_gradient_rows(const SoftmaxGradientRows<float>&);
template void softmax_gradient_rows(const SoftmaxGradientRows<double>&);
template void log_sum_exp_rows(const LogSumExpRows<float>&);
template void log_sum_exp_rows(const LogSumExpRows<double>&);
template void scaled_exp(const float*, float, float, float*, Index, bool);
template void scaled_exp(const double*, double, double, double*, Index, bool);

}  // namespace retrace::kernels::RETRACE_ISA_NAMESPACE

// Compiled once for each instruction set; see isa.h.
#include <retrace/ops/kernels/isa_functions.h>
#include <retrace/ops/kernels/isa_rows.h>

namespace retrace::kernels::RETRACE_ISA_NAMESPACE {
namespace {

template <class T>
struct Moments {
  T mean, inverse;
};

/// Of x, or with a residual of x + residual, which is written to `sum` and read from there.
template <class T>
[[gnu::always_inline]] inline Moments<T> moments_of_row(const T* x, const T* residual, T* sums, Index length, T eps) {
  const double count = static_cast<double>(length);
  VectorSum<T> sum, squares;
  for_each_vector<T>(length, [&](Index k, auto part) {
    Vector<T> element = part.load_from(x + k);
    if (residual != nullptr) {
      element += part.load_from(residual + k);
      part.store_to(sums + k, element);
    }
    sum.add(element);
  });
  if (residual != nullptr) x = sums;
  const T mean = static_cast<T>(sum.total() / count);
  for_each_vector<T>(length, [&](Index k, auto part) {
    const Vector<T> difference = part.keep(part.load_from(x + k) - mean, T(0));
    squares.add(difference * difference);
  });
  return {mean, static_cast<T>(1 / __builtin_sqrt(squares.total() / count + static_cast<double>(eps)))};
}

/// What of a row of dy goes to gamma and beta, and the means of g and g n.
template <class T>
[[gnu::always_inline]] inline void add_row(const LayerNormGradientRows<T>& at, const T* x, const T* dy, T mean,
                                           T inverse, VectorSum<T>& sum_g, VectorSum<T>& sum_gn) {
  for_each_vector<T>(at.length, [&](Index k, auto part) {
    const Vector<T> slope = part.load_from(dy + k);
    const Vector<T> normal = (part.load_from(x + k) - mean) * inverse;
    if (at.dgamma != nullptr) part.store_to(at.dgamma + k, part.load_from(at.dgamma + k) + slope * normal);
    if (at.dbeta != nullptr) part.store_to(at.dbeta + k, part.load_from(at.dbeta + k) + slope);
    const Vector<T> g = at.gamma == nullptr ? slope : slope * part.load_from(at.gamma + k);
    sum_g.add(g);
    sum_gn.add(g * normal);
  });
}

}  // namespace

template <class T>
void layer_norm_rows(const LayerNormRows<T>& at) {
  for (Index row = 0; row < at.rows; ++row) {
    const T* x = at.x + row * at.length;
    T* y = at.y + row * at.length;
    const T* residual = at.residual == nullptr ? nullptr : at.residual + row * at.length;
    T* sums = residual == nullptr ? nullptr : at.sum + row * at.length;
    const auto [mean, inverse] = moments_of_row(x, residual, sums, at.length, at.eps);
    if (residual != nullptr) x = sums;
    for_each_vector<T>(at.length, [&, m = mean, s = inverse](Index k, auto part) {
      Vector<T> value = (part.load_from(x + k) - m) * s;
      if (at.gamma != nullptr) value *= part.load_from(at.gamma + k);
      if (at.beta != nullptr) value += part.load_from(at.beta + k);
      part.store_to(y + k, value);
    });
    at.mean[row] = mean;
    at.inverse[row] = inverse;
  }
}

template <class T>
void layer_norm_gradient_rows(const LayerNormGradientRows<T>& at) {
  const double count = static_cast<double>(at.length);
  for (Index row = 0; row < at.rows; ++row) {
    const T *x = at.x + row * at.length, *dy = at.dy + row * at.length;
    const T mean = at.mean[row], inverse = at.inverse[row];
    VectorSum<T> sum_g, sum_gn;
    add_row(at, x, dy, mean, inverse, sum_g, sum_gn);
    if (at.dx == nullptr) continue;
    T* dx = at.dx + row * at.length;
    const T mean_g = static_cast<T>(sum_g.total() / count), mean_gn = static_cast<T>(sum_gn.total() / count);
    for_each_vector<T>(at.length, [&](Index k, auto part) {
      Vector<T> g = part.load_from(dy + k);
      if (at.gamma != nullptr) g *= part.load_from(at.gamma + k);
      const Vector<T> normal = (part.load_from(x + k) - mean) * inverse;
      const Vector<T> slope = (g - mean_g - normal * mean_gn) * inverse;
      part.store_to(dx + k, at.add ? part.load_from(dx + k) + slope : slope);
    });
  }
}

template void layer_norm_rows(const LayerNormRows<float>&);
template void layer_norm_rows(const LayerNormRows<double>&);
template void layer_norm_gradient_rows(const LayerNormGradientRows<float>&);
template void layer_norm_gradient_rows(const LayerNormGradientRows<double>&);

}  // namespace retrace::kernels::RETRACE_ISA_NAMESPACE

// Compiled once for each instruction set; see isa.h.
#include <retrace/ops/kernels/isa_functions.h>
#include <retrace/ops/kernels/isa_rows.h>

namespace retrace::kernels::RETRACE_ISA_NAMESPACE {
namespace {

/// The sum of a row of x, or with a residual of x + residual, which is written to `sum`.
template <class T> [[gnu::always_inline]] inline double sum_with_residual(const LayerNormRows<T>& at, Index row) {
  const Index begin = row * at.length;
  return sum_of_row<T>(at.length, [&](Index k, auto part) {
    const Vector<T> x = part.load_from(at.x + begin + k);
    if (at.residual == nullptr) return x;
    const Vector<T> element = x + part.load_from(at.residual + begin + k);
    part.store_to(at.sum + begin + k, element);
    return element;
  });
}

template <class T> [[gnu::always_inline]] inline double sum_of_squares(const T* x, T mean, Index length) {
  return sum_of_row<T>(length, [&](Index k, auto part) {
    const Vector<T> difference = part.load_from(x + k) - mean;
    return difference * difference;
  });
}

template <class T>
[[gnu::always_inline]] inline void normalise_row(const LayerNormRows<T>& at, const T* x, T* y, T mean, T inverse) {
  for_each_vector_to<T>(at.past_cache, at.length, [&](Index k, auto part) {
    Vector<T> value = (part.load_from(x + k) - mean) * inverse;
    if (at.gamma != nullptr) value *= part.load_from(at.gamma + k);
    if (at.beta != nullptr) value += part.load_from(at.beta + k);
    part.store_to(y + k, value);
  });
}

/// n of the vector of a row that begins at k.
template <class T>
[[gnu::always_inline]] inline Vector<T> normal_of(const LayerNormGradientRows<T>& at, Index row, Index k, auto part) {
  const Index element = row * at.length + k;
  if (at.x != nullptr) return (part.load_from(at.x + element) - at.mean[row]) * at.inverse[row];
  Vector<T> n = part.load_from(at.y + element);
  if (at.beta != nullptr) n -= part.load_from(at.beta + k);
  return at.one_over_gamma == nullptr ? n : n * part.load_from(at.one_over_gamma + k);
}

/// The means of g and g n of a row.
template <class T> struct GradientMeans { T g, gn; };

/// These, and what of a row of dy goes to gamma and beta.
template <class T>
[[gnu::always_inline]] inline GradientMeans<T> add_row(const LayerNormGradientRows<T>& at, Index row) {
  const T* dy = at.dy + row * at.length;
  const Several sums = sums_of_row<T, 2>(at.length, [&](Index k, auto part) {
    const Vector<T> slope = part.load_from(dy + k), normal = normal_of(at, row, k, part);
    if (at.dgamma != nullptr) part.store_to(at.dgamma + k, part.load_from(at.dgamma + k) + slope * normal);
    if (at.dbeta != nullptr) part.store_to(at.dbeta + k, part.load_from(at.dbeta + k) + slope);
    const Vector<T> g = at.gamma == nullptr ? slope : slope * part.load_from(at.gamma + k);
    return Several<Vector<T>, 2>{g, g * normal};
  });
  const double length = static_cast<double>(at.length);
  return {static_cast<T>(sums.values[0] / length), static_cast<T>(sums.values[1] / length)};
}

template <class T>
[[gnu::always_inline]] inline void gradient_of_row(const LayerNormGradientRows<T>& at, Index row,
                                                   GradientMeans<T> means) {
  const T* dy = at.dy + row * at.length;
  T* dx = at.dx + row * at.length;
  const T inverse = at.inverse[row];
  for_each_vector_to<T>(at.past_cache, at.length, [&](Index k, auto part) {
    Vector<T> g = part.load_from(dy + k);
    if (at.gamma != nullptr) g *= part.load_from(at.gamma + k);
    const Vector<T> slope = (g - means.g - normal_of(at, row, k, part) * means.gn) * inverse;
    part.store_to(dx + k, at.add ? part.load_from(dx + k) + slope : slope);
  });
}

template <class T> void normalise_group(LayerNormRows<T> at, Index first, Index count) {
  const T* x = at.residual == nullptr ? at.x : at.sum;
  const double length = static_cast<double>(at.length);
  double sums[most_rows_at_once] = {}, squares[most_rows_at_once] = {};
  T mean[most_rows_at_once], inverse[most_rows_at_once];
  for (Index i = 0; i < count; ++i) sums[i] = sum_with_residual(at, first + i);
  for (Index i = 0; i < most_rows_at_once; ++i) mean[i] = static_cast<T>(sums[i] / length);
  for (Index i = 0; i < count; ++i) squares[i] = sum_of_squares(x + (first + i) * at.length, mean[i], at.length);
  for (Index i = 0; i < most_rows_at_once; ++i)
    inverse[i] = static_cast<T>(1 / __builtin_sqrt(squares[i] / length + static_cast<double>(at.eps)));
  for (Index i = 0; i < count; ++i) {
    at.mean[first + i] = mean[i];
    at.inverse[first + i] = inverse[i];
    normalise_row(at, x + (first + i) * at.length, at.y + (first + i) * at.length, mean[i], inverse[i]);
  }
}

template <class T> void gradient_of_group(LayerNormGradientRows<T> at, Index first, Index count) {
  GradientMeans<T> means[most_rows_at_once];
  for (Index i = 0; i < count; ++i) means[i] = add_row(at, first + i);
  if (at.dx == nullptr) return;
  for (Index i = 0; i < count; ++i) gradient_of_row(at, first + i, means[i]);
}

}  // namespace

template <class T> void layer_norm_rows(const LayerNormRows<T>& at) {
  LayerNormRows<T> all = at;
  all.past_cache = at.past_cache && at.sum != at.y && can_be_streamed(at.y, at.length);
  for_each_group<T>(at.rows, at.length, [&](Index first, Index count) { normalise_group(all, first, count); });
  if (all.past_cache) finish_streams();
}

template <class T> void layer_norm_gradient_rows(const LayerNormGradientRows<T>& at) {
  LayerNormGradientRows<T> all = at;
  all.past_cache = at.past_cache && !at.add && at.dx != nullptr && can_be_streamed(at.dx, at.length);
  for_each_group<T>(at.rows, at.length, [&](Index first, Index count) { gradient_of_group(all, first, count); });
  if (all.past_cache) finish_streams();
}

template void layer_norm_rows(const LayerNormRows<float>&);
template void layer_norm_rows(const LayerNormRows<double>&);
template void layer_norm_gradient_rows(const LayerNormGradientRows<float>&);
template void layer_norm_gradient_rows(const LayerNormGradientRows<double>&);

}  // namespace retrace::kernels::RETRACE_ISA_NAMESPACE

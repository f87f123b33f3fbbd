// Compiled once for each instruction set; see isa.h.
#include <retrace/ops/kernels/isa_functions.h>
#include <retrace/ops/kernels/isa_rows.h>

namespace retrace::kernels::RETRACE_ISA_NAMESPACE {
namespace {

/// The sum of a row of x, or with a residual of x + residual, which is written to `sum`.
template <class T> [[gnu::always_inline]] inline double sum_with_residual(const LayerNormRows<T>& args, Index row) {
  const Index begin = row * args.length;
  return sum_of_row<T>(args.length, [&](Index k, auto part) {
    const Vector<T> x = part.load_from(args.x + begin + k);
    if (args.residual == nullptr) return x;
    const Vector<T> element = x + part.load_from(args.residual + begin + k);
    part.store_to(args.sum + begin + k, element);
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
[[gnu::always_inline]] inline void normalise_row(const LayerNormRows<T>& args, const T* x, T* y, T mean, T inverse) {
  for_each_vector_to<T>(args.past_cache, args.length, [&](Index k, auto part) {
    Vector<T> value = (part.load_from(x + k) - mean) * inverse;
    if (args.gamma != nullptr) value *= part.load_from(args.gamma + k);
    if (args.beta != nullptr) value += part.load_from(args.beta + k);
    part.store_to(y + k, value);
  });
}

/// n of the vector of a row that begins at k.
template <class T>
[[gnu::always_inline]] inline Vector<T> normal_of(const LayerNormGradientRows<T>& args, Index row, Index k, auto part) {
  const Index element = row * args.length + k;
  if (args.x != nullptr) return (part.load_from(args.x + element) - args.mean[row]) * args.inverse[row];
  Vector<T> n = part.load_from(args.y + element);
  if (args.beta != nullptr) n -= part.load_from(args.beta + k);
  return args.one_over_gamma == nullptr ? n : n * part.load_from(args.one_over_gamma + k);
}

/// The means of g and g n of a row.
template <class T> struct GradientMeans { T g, gn; };

/// These, and what of a row of dy goes to gamma and beta.
template <class T>
[[gnu::always_inline]] inline GradientMeans<T> add_row(const LayerNormGradientRows<T>& args, Index row) {
  const T* dy = args.dy + row * args.length;
  const Several sums = sums_of_row<T, 2>(args.length, [&](Index k, auto part) {
    const Vector<T> slope = part.load_from(dy + k), normal = normal_of(args, row, k, part);
    if (args.dgamma != nullptr) part.store_to(args.dgamma + k, part.load_from(args.dgamma + k) + slope * normal);
    if (args.dbeta != nullptr) part.store_to(args.dbeta + k, part.load_from(args.dbeta + k) + slope);
    const Vector<T> g = args.gamma == nullptr ? slope : slope * part.load_from(args.gamma + k);
    return Several<Vector<T>, 2>{g, g * normal};
  });
  const double length = static_cast<double>(args.length);
  return {static_cast<T>(sums.values[0] / length), static_cast<T>(sums.values[1] / length)};
}

template <class T>
[[gnu::always_inline]] inline void gradient_of_row(const LayerNormGradientRows<T>& args, Index row,
                                                   GradientMeans<T> means) {
  const T* dy = args.dy + row * args.length;
  T* dx = args.dx + row * args.length;
  const T inverse = args.inverse[row];
  for_each_vector_to<T>(args.past_cache, args.length, [&](Index k, auto part) {
    Vector<T> g = part.load_from(dy + k);
    if (args.gamma != nullptr) g *= part.load_from(args.gamma + k);
    const Vector<T> slope = (g - means.g - normal_of(args, row, k, part) * means.gn) * inverse;
    part.store_to(dx + k, args.add ? part.load_from(dx + k) + slope : slope);
  });
}

template <class T> void normalise_group(LayerNormRows<T> args, Index first, Index count) {
  const T* x = args.residual == nullptr ? args.x : args.sum;
  const double length = static_cast<double>(args.length);
  double sums[max_rows_at_once] = {}, squares[max_rows_at_once] = {};
  T mean[max_rows_at_once], inverse[max_rows_at_once];
  for (Index i = 0; i < count; ++i) sums[i] = sum_with_residual(args, first + i);
  for (Index i = 0; i < max_rows_at_once; ++i) mean[i] = static_cast<T>(sums[i] / length);
  for (Index i = 0; i < count; ++i) squares[i] = sum_of_squares(x + (first + i) * args.length, mean[i], args.length);
  for (Index i = 0; i < max_rows_at_once; ++i)
    inverse[i] = static_cast<T>(1 / __builtin_sqrt(squares[i] / length + static_cast<double>(args.eps)));
  for (Index i = 0; i < count; ++i) {
    args.mean[first + i] = mean[i];
    args.inverse[first + i] = inverse[i];
    normalise_row(args, x + (first + i) * args.length, args.y + (first + i) * args.length, mean[i], inverse[i]);
  }
}

template <class T> void gradient_of_group(LayerNormGradientRows<T> args, Index first, Index count) {
  GradientMeans<T> means[max_rows_at_once];
  for (Index i = 0; i < count; ++i) means[i] = add_row(args, first + i);
  if (args.dx == nullptr) return;
  for (Index i = 0; i < count; ++i) gradient_of_row(args, first + i, means[i]);
}

}  // namespace

template <class T> void run(const LayerNormRows<T>& args) {
  LayerNormRows<T> all = args;
  all.past_cache = args.past_cache && args.sum != args.y && can_be_streamed(args.y, args.length);
  for_each_group<T>(args.rows, args.length, [&](Index first, Index count) { normalise_group(all, first, count); });
  if (all.past_cache) finish_streams();
}

template <class T> void run(const LayerNormGradientRows<T>& args) {
  LayerNormGradientRows<T> all = args;
  all.past_cache = args.past_cache && !args.add && args.dx != nullptr && can_be_streamed(args.dx, args.length);
  for_each_group<T>(args.rows, args.length, [&](Index first, Index count) { gradient_of_group(all, first, count); });
  if (all.past_cache) finish_streams();
}

RETRACE_INSTANTIATE_KERNEL(LayerNormRows);
RETRACE_INSTANTIATE_KERNEL(LayerNormGradientRows);

}  // namespace retrace::kernels::RETRACE_ISA_NAMESPACE

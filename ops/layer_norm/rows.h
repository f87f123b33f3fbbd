// Arguments of layer norm over the rows of a matrix. The bits of a row depend only on that row.
#pragma once

#include <cstdint>

namespace retrace {

/// True if an array of this many elements is evicted from the cache before it is read again. Streaming stores are then
/// faster: an ordinary store first loads the cache line.
template <class T> constexpr bool is_beyond_cache(std::int64_t elements) {
  return elements * static_cast<std::int64_t>(sizeof(T)) >= std::int64_t{8} << 20;
}

/// y = (x - mean x) inverse gamma + beta, inverse = 1 / sqrt(var x + eps), in two passes: sum x^2 - (sum x)^2 / d would
/// lose everything where the mean is large. gamma and beta (`length` elements) may each be null. Writes mean and
/// inverse, too. With a residual (else null), x + residual takes the place of x and is written to `sum`, which may be
/// y. With `past_cache`, y is stored past the cache if it is not read again here and its rows are whole vectors.
template <class T> struct LayerNormRows {
  const T *x, *gamma, *beta;
  T *y, *mean, *inverse;
  std::int64_t rows, length;
  T eps;
  const T* residual = nullptr;
  T* sum = nullptr;
  bool past_cache = false;

  LayerNormRows rows_from(std::int64_t first, std::int64_t last) const {
    LayerNormRows part = *this;
    part.x += first * length, part.y += first * length, part.mean += first, part.inverse += first;
    if (residual != nullptr) part.residual += first * length, part.sum += first * length;
    part.rows = last - first;
    return part;
  }
};

/// With g = dy gamma: dx = (or += with `add`) (g - mean g - n mean(g n)) inverse, dgamma += sum of dy n over rows,
/// dbeta += sum of dy, row after row. Each of the three may be null. n is (x - mean) inverse, or without x, of what
/// layer_norm gave, (y - beta) one_over_gamma; gamma, beta and one_over_gamma (`length` elements) may each be null. dx
/// may be dy.
template <class T> struct LayerNormGradientRows {
  const T *x, *dy, *gamma, *mean, *inverse;
  T *dx, *dgamma, *dbeta;
  std::int64_t rows, length;
  bool add = false;
  const T *y = nullptr, *beta = nullptr, *one_over_gamma = nullptr;
  bool past_cache = false;  // as there, for dx

  LayerNormGradientRows rows_from(std::int64_t first, std::int64_t last) const {
    LayerNormGradientRows part = *this;
    for (const T** array : {&part.x, &part.y, &part.dy})
      if (*array != nullptr) *array += first * length;
    if (mean != nullptr) part.mean += first;
    if (dx != nullptr) part.dx += first * length;
    part.inverse += first;
    part.rows = last - first;
    return part;
  }
};

namespace plain {
template <class T> void layer_norm(const LayerNormRows<T>& args);
template <class T> void layer_norm_gradient(const LayerNormGradientRows<T>& args);
}  // namespace plain

}  // namespace retrace

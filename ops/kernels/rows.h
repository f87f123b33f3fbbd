// Softmax and normalisation of the rows of a matrix. Float and double run the kernels of this machine's instruction
// set, any other type the plain twins below, with which they agree to a few units in the last place. A row's bits
// depend on that row alone. Sums of floats are taken as doubles, once four have been added.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include <retrace/ops/loops/ordered_sum.h>

namespace retrace::kernels {

/// y = softmax(scale x), row by row, scale > 0. A row of -inf alone gives zeros, NaN stays NaN. y may be x.
template <class T> struct SoftmaxRows {
  const T* x;
  T* y;
  std::int64_t rows, length;
  T scale = 1;
};

/// dx = (or += with `add`) scale y (dy - sum dy y), row by row. dx may be dy.
template <class T> struct SoftmaxGradientRows {
  const T *y, *dy;
  T* dx;
  std::int64_t rows, length;
  T scale = 1;
  bool add = false;
};

/// sums[row] = max x + ln sum e^(x - max x).
template <class T> struct LogSumExpRows {
  const T* x;
  T* sums;
  std::int64_t rows, length;
};

/// Whether so many elements are gone from the cache before anybody reads them: they are then better stored past it, as
/// storing a line there first loads it.
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
};

template <class T> void softmax_plain(const SoftmaxRows<T>& at) {
  using std::exp, std::isinf;
  for (std::int64_t row = 0; row < at.rows; ++row) {
    const T* x = at.x + row * at.length;
    T* y = at.y + row * at.length;
    T most = static_cast<T>(-std::numeric_limits<double>::infinity());
    for (std::int64_t k = 0; k < at.length; ++k) {
      y[k] = at.scale == T(1) ? x[k] : x[k] * at.scale;  // the tangent of -inf times 1 would be NaN
      most = y[k] > most ? y[k] : most;
    }
    const bool nothing_is_left = isinf(most) && most < T(0);
    for (std::int64_t k = 0; k < at.length; ++k)
      y[k] = nothing_is_left ? (y[k] == most ? T(0) : y[k]) : exp(y[k] - most);
    if (nothing_is_left) continue;
    const T one_over_sum = T(1) / ordered_sum<T>(at.length, [=](std::int64_t k) { return y[k]; });
    for (std::int64_t k = 0; k < at.length; ++k) y[k] *= one_over_sum;
  }
}

template <class T> void softmax_gradient_plain(const SoftmaxGradientRows<T>& at) {
  for (std::int64_t first = 0; first < at.rows * at.length; first += at.length) {
    const T *y = at.y + first, *dy = at.dy + first;
    const T dot = ordered_sum<T>(at.length, [=](std::int64_t k) { return dy[k] * y[k]; });
    for (std::int64_t k = 0; k < at.length; ++k) {
      const T contribution = y[k] * (dy[k] - dot) * at.scale;
      at.dx[first + k] = at.add ? at.dx[first + k] + contribution : contribution;
    }
  }
}

template <class T> void log_sum_exp_plain(const LogSumExpRows<T>& at) {
  using std::exp, std::log;
  for (std::int64_t row = 0; row < at.rows; ++row) {
    const T* x = at.x + row * at.length;
    T most = static_cast<T>(-std::numeric_limits<double>::infinity());
    for (std::int64_t k = 0; k < at.length; ++k) most = x[k] > most ? x[k] : most;
    at.sums[row] = most + log(ordered_sum<T>(at.length, [=](std::int64_t k) { return exp(x[k] - most); }));
  }
}

template <class T> void layer_norm_plain(const LayerNormRows<T>& at) {
  using std::sqrt;
  const T count = static_cast<T>(static_cast<double>(at.length));
  for (std::int64_t row = 0; row < at.rows; ++row) {
    const T* x = at.x + row * at.length;
    if (at.residual != nullptr) {
      T* sum = at.sum + row * at.length;
      for (std::int64_t k = 0; k < at.length; ++k) sum[k] = x[k] + at.residual[row * at.length + k];
      x = sum;
    }
    const T mean = ordered_sum<T>(at.length, [=](std::int64_t k) { return x[k]; }) / count;
    const T var = ordered_sum<T>(at.length, [=](std::int64_t k) { return (x[k] - mean) * (x[k] - mean); }) / count;
    const T inverse = T(1) / sqrt(var + at.eps);
    for (std::int64_t k = 0; k < at.length; ++k) {
      const T normal = (x[k] - mean) * inverse;
      const T scaled = at.gamma == nullptr ? normal : normal * at.gamma[k];
      at.y[row * at.length + k] = at.beta == nullptr ? scaled : scaled + at.beta[k];
    }
    at.mean[row] = mean;
    at.inverse[row] = inverse;
  }
}

template <class T> void layer_norm_gradient_plain(const LayerNormGradientRows<T>& at) {
  const T count = static_cast<T>(static_cast<double>(at.length));
  for (std::int64_t row = 0; row < at.rows; ++row) {
    const std::int64_t begin = row * at.length;
    const T* dy = at.dy + begin;
    const auto normal = [&](std::int64_t k) {
      if (at.x != nullptr) return (at.x[begin + k] - at.mean[row]) * at.inverse[row];
      const T scaled = at.beta == nullptr ? at.y[begin + k] : at.y[begin + k] - at.beta[k];
      return at.one_over_gamma == nullptr ? scaled : scaled * at.one_over_gamma[k];
    };
    const auto g = [&](std::int64_t k) { return at.gamma == nullptr ? dy[k] : dy[k] * at.gamma[k]; };
    for (std::int64_t k = 0; k < at.length; ++k) {
      if (at.dgamma != nullptr) at.dgamma[k] += dy[k] * normal(k);
      if (at.dbeta != nullptr) at.dbeta[k] += dy[k];
    }
    if (at.dx == nullptr) continue;
    const T mean_g = ordered_sum<T>(at.length, g) / count;
    const T mean_gn = ordered_sum<T>(at.length, [=](std::int64_t k) { return g(k) * normal(k); }) / count;
    for (std::int64_t k = 0; k < at.length; ++k) {
      const T contribution = (g(k) - mean_g - normal(k) * mean_gn) * at.inverse[row];
      T& dx = at.dx[begin + k];
      dx = at.add ? dx + contribution : contribution;
    }
  }
}

/// The kernels for one type, of one instruction set. `scaled_exp` is y = (or += with `add`) factor e^(x - shift).
template <class T> struct RowKernels {
  void (*softmax)(const SoftmaxRows<T>&);
  void (*softmax_gradient)(const SoftmaxGradientRows<T>&);
  void (*log_sum_exp)(const LogSumExpRows<T>&);
  void (*scaled_exp)(const T* x, T shift, T factor, T* y, std::int64_t count, bool add);
  void (*layer_norm)(const LayerNormRows<T>&);
  void (*layer_norm_gradient)(const LayerNormGradientRows<T>&);
};
/// Those of this machine.
template <class T>
requires std::is_floating_point_v<T>
const RowKernels<T>& row_kernels();

template <class T> void softmax(const SoftmaxRows<T>& at) {
  if constexpr (std::is_floating_point_v<T>)
    row_kernels<T>().softmax(at);
  else
    softmax_plain(at);
}
template <class T> void softmax_gradient(const SoftmaxGradientRows<T>& at) {
  if constexpr (std::is_floating_point_v<T>)
    row_kernels<T>().softmax_gradient(at);
  else
    softmax_gradient_plain(at);
}
template <class T> void log_sum_exp(const LogSumExpRows<T>& at) {
  if constexpr (std::is_floating_point_v<T>)
    row_kernels<T>().log_sum_exp(at);
  else
    log_sum_exp_plain(at);
}
template <class T> void scaled_exp(const T* x, T shift, T factor, T* y, std::int64_t count, bool add) {
  if constexpr (std::is_floating_point_v<T>) {
    row_kernels<T>().scaled_exp(x, shift, factor, y, count, add);
  } else {
    using std::exp;
    for (std::int64_t k = 0; k < count; ++k) {
      const T contribution = factor * exp(x[k] - shift);
      y[k] = add ? y[k] + contribution : contribution;
    }
  }
}
template <class T> void layer_norm(const LayerNormRows<T>& at) {
  if constexpr (std::is_floating_point_v<T>)
    row_kernels<T>().layer_norm(at);
  else
    layer_norm_plain(at);
}
template <class T> void layer_norm_gradient(const LayerNormGradientRows<T>& at) {
  if constexpr (std::is_floating_point_v<T>)
    row_kernels<T>().layer_norm_gradient(at);
  else
    layer_norm_gradient_plain(at);
}

}  // namespace retrace::kernels

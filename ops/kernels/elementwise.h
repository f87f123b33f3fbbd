// Functions over arrays. Float and double go a vector at a time; any other type takes the plain twin below. relu is
// exact, add_rows rounds each sum; the others are within four units in the last place over the whole range (gelu: see
// its test), and right at its ends. An element's bits do not depend on its place in the array.
#pragma once

#include <cmath>
#include <cstdint>

#include <retrace/ops/logistic.h>

namespace retrace::kernels {

/// y[c] = y[c] + x[0, c] + x[1, c] + ..., in this order.
void add_rows(const float* x, std::int64_t row_stride, std::int64_t rows, std::int64_t columns, float* y);
void add_rows(const double* x, std::int64_t row_stride, std::int64_t rows, std::int64_t columns, double* y);

// y[k] = f(x[k]) for k in [0, count). y may be x.
void relu(const float* x, float* y, std::int64_t count);
void relu(const double* x, double* y, std::int64_t count);
void exp(const float* x, float* y, std::int64_t count);
void exp(const double* x, double* y, std::int64_t count);
void tanh(const float* x, float* y, std::int64_t count);
void tanh(const double* x, double* y, std::int64_t count);
void sigmoid(const float* x, float* y, std::int64_t count);
void sigmoid(const double* x, double* y, std::int64_t count);
/// The same, and slope[k] = f'(x[k]) unless slope is null; full in both tails.
void sigmoid(const float* x, float* y, float* slope, std::int64_t count);
void sigmoid(const double* x, double* y, double* slope, std::int64_t count);
void log(const float* x, float* y, std::int64_t count);
void log(const double* x, double* y, std::int64_t count);
void softplus(const float* x, float* y, float* slope, std::int64_t count);
void softplus(const double* x, double* y, double* slope, std::int64_t count);
void log_sigmoid(const float* x, float* y, float* slope, std::int64_t count);
void log_sigmoid(const double* x, double* y, double* slope, std::int64_t count);
/// x P(x), P the normal distribution function, and its approximation; see ops/gelu.cpp for the plain twins.
void gelu(const float* x, float* y, float* slope, std::int64_t count);
void gelu_tanh(const float* x, float* y, float* slope, std::int64_t count);

template <class T>
void add_rows(const T* x, std::int64_t row_stride, std::int64_t rows, std::int64_t columns, T* y) {
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::int64_t column = 0; column < columns; ++column) y[column] += x[row * row_stride + column];
}
template <class T>
void tanh(const T* x, T* y, std::int64_t count) {
  using std::tanh;
  for (std::int64_t k = 0; k < count; ++k) y[k] = tanh(x[k]);
}
template <class T>
void sigmoid(const T* x, T* y, std::int64_t count) {
  for (std::int64_t k = 0; k < count; ++k) y[k] = logistic(x[k]);
}

}  // namespace retrace::kernels

// Compiled once for each instruction set; see isa.h.
#include <retrace/ops/kernels/isa_functions.h>
#include <retrace/ops/kernels/isa_log.h>
#include <retrace/ops/kernels/isa_rows.h>

namespace retrace::kernels::RETRACE_ISA_NAMESPACE {
namespace {

/// y = f(x). The last elements run through the same instructions as the others. The function is a parameter of the
/// template: one that comes by its address would be called for every vector.
template <auto f, class T>
void map(const T* x, T* y, std::int64_t count) {
  for_each_vector<T>(count, [=](std::int64_t k, auto part) { part.store_to(y + k, f(part.load_from(x + k))); });
}

/// y = f(x) and, unless it is null, slope = f'(x).
template <auto f, class T>
void map_with_slope(const T* x, T* y, T* slope, std::int64_t count) {
  if (slope == nullptr) {
    for_each_vector<T>(count, [=](std::int64_t k, auto part) { part.store_to(y + k, f(part.load_from(x + k)).value); });
    return;
  }
  for_each_vector<T>(count, [=](std::int64_t k, auto part) {
    const ValueAndSlope<T> at = f(part.load_from(x + k));
    part.store_to(y + k, at.value);
    part.store_to(slope + k, at.slope);
  });
}

/// y += Rows rows of x, one after the other; y is loaded and stored once.
template <int Rows, class T>
void add_some_rows(const T* x, std::int64_t row_stride, std::int64_t columns, T* y) {
  for_each_vector<T>(columns, [=](std::int64_t k, auto part) {
    Vector<T> sum = part.load_from(y + k);
#pragma GCC unroll 8
    for (int row = 0; row < Rows; ++row) sum += part.load_from(x + row * row_stride + k);
    part.store_to(y + k, sum);
  });
}

template <class T>
void add_rows(const T* x, std::int64_t row_stride, std::int64_t rows, std::int64_t columns, T* y) {
  constexpr int group = 8;
  std::int64_t row = 0;
  for (; row + group <= rows; row += group) add_some_rows<group>(x + row * row_stride, row_stride, columns, y);
  for (; row < rows; ++row) add_some_rows<1>(x + row * row_stride, row_stride, columns, y);
}

template <class T>
Vector<T> vector_relu(Vector<T> x) {
  return x <= 0 ? Vector<T>{} : x;  // NaN is not <= 0
}

}  // namespace

void add_rows_float(const float* x, Index row_stride, Index rows, Index columns, float* y) {
  add_rows(x, row_stride, rows, columns, y);
}
void add_rows_double(const double* x, Index row_stride, Index rows, Index columns, double* y) {
  add_rows(x, row_stride, rows, columns, y);
}
void relu_float(const float* x, float* y, std::int64_t count) { map<vector_relu<float>>(x, y, count); }
void relu_double(const double* x, double* y, std::int64_t count) { map<vector_relu<double>>(x, y, count); }
void exp_float(const float* x, float* y, std::int64_t count) { map<vector_exp<float>>(x, y, count); }
void exp_double(const double* x, double* y, std::int64_t count) { map<vector_exp<double>>(x, y, count); }
void tanh_float(const float* x, float* y, std::int64_t count) { map<vector_tanh<float>>(x, y, count); }
void tanh_double(const double* x, double* y, std::int64_t count) { map<vector_tanh<double>>(x, y, count); }
void log_float(const float* x, float* y, std::int64_t count) { map<vector_log<float>>(x, y, count); }
void log_double(const double* x, double* y, std::int64_t count) { map<vector_log<double>>(x, y, count); }
void sigmoid_float(const float* x, float* y, float* slope, std::int64_t count) {
  map_with_slope<vector_sigmoid_and_slope<float>>(x, y, slope, count);
}
void sigmoid_double(const double* x, double* y, double* slope, std::int64_t count) {
  map_with_slope<vector_sigmoid_and_slope<double>>(x, y, slope, count);
}
void softplus_float(const float* x, float* y, float* slope, std::int64_t count) {
  map_with_slope<vector_softplus_and_slope<float>>(x, y, slope, count);
}
void softplus_double(const double* x, double* y, double* slope, std::int64_t count) {
  map_with_slope<vector_softplus_and_slope<double>>(x, y, slope, count);
}
void log_sigmoid_float(const float* x, float* y, float* slope, std::int64_t count) {
  map_with_slope<vector_log_sigmoid_and_slope<float>>(x, y, slope, count);
}
void log_sigmoid_double(const double* x, double* y, double* slope, std::int64_t count) {
  map_with_slope<vector_log_sigmoid_and_slope<double>>(x, y, slope, count);
}
void gelu_float(const float* x, float* y, float* slope, std::int64_t count) {
  map_with_slope<vector_gelu>(x, y, slope, count);
}
void gelu_tanh_float(const float* x, float* y, float* slope, std::int64_t count) {
  map_with_slope<vector_gelu_tanh>(x, y, slope, count);
}

}  // namespace retrace::kernels::RETRACE_ISA_NAMESPACE

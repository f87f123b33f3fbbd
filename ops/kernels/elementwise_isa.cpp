// Compiled once for each instruction set; see isa.h.
#include <retrace/ops/kernels/isa_functions.h>
#include <retrace/ops/kernels/isa_log.h>
#include <retrace/ops/kernels/isa_rows.h>

namespace retrace::kernels::RETRACE_ISA_NAMESPACE {
namespace {

/// y = f(x). The last elements run through the same instructions as the others.
template <class T, class Function>
void map(const T* x, T* y, std::int64_t count, Function f) {
  for_each_vector<T>(count, [&](std::int64_t k, auto part) { part.store_to(y + k, f(part.load_from(x + k))); });
}

/// y = f(x) and, unless it is null, slope = f'(x).
template <class T, class Function>
void map_with_slope(const T* x, T* y, T* slope, std::int64_t count, Function f) {
  if (slope == nullptr) {
    for_each_vector<T>(count, [&](std::int64_t k, auto part) { part.store_to(y + k, f(part.load_from(x + k)).value); });
    return;
  }
  for_each_vector<T>(count, [&](std::int64_t k, auto part) {
    const ValueAndSlope<T> at = f(part.load_from(x + k));
    part.store_to(y + k, at.value);
    part.store_to(slope + k, at.slope);
  });
}

}  // namespace

// Lambdas, because a function that is passed by its address is called for every vector.
void exp_float(const float* x, float* y, std::int64_t count) {
  map(x, y, count, [](Vector<float> v) { return vector_exp<float>(v); });
}
void exp_double(const double* x, double* y, std::int64_t count) {
  map(x, y, count, [](Vector<double> v) { return vector_exp<double>(v); });
}
void tanh_float(const float* x, float* y, std::int64_t count) {
  map(x, y, count, [](Vector<float> v) { return vector_tanh<float>(v); });
}
void tanh_double(const double* x, double* y, std::int64_t count) {
  map(x, y, count, [](Vector<double> v) { return vector_tanh<double>(v); });
}
void sigmoid_float(const float* x, float* y, float* slope, std::int64_t count) {
  map_with_slope(x, y, slope, count, [](Vector<float> v) { return vector_sigmoid_and_slope<float>(v); });
}
void sigmoid_double(const double* x, double* y, double* slope, std::int64_t count) {
  map_with_slope(x, y, slope, count, [](Vector<double> v) { return vector_sigmoid_and_slope<double>(v); });
}
void log_float(const float* x, float* y, std::int64_t count) {
  map(x, y, count, [](Vector<float> v) { return vector_log<float>(v); });
}
void log_double(const double* x, double* y, std::int64_t count) {
  map(x, y, count, [](Vector<double> v) { return vector_log<double>(v); });
}
void softplus_float(const float* x, float* y, float* slope, std::int64_t count) {
  map_with_slope(x, y, slope, count, [](Vector<float> v) { return vector_softplus_and_slope<float>(v); });
}
void softplus_double(const double* x, double* y, double* slope, std::int64_t count) {
  map_with_slope(x, y, slope, count, [](Vector<double> v) { return vector_softplus_and_slope<double>(v); });
}
void log_sigmoid_float(const float* x, float* y, float* slope, std::int64_t count) {
  map_with_slope(x, y, slope, count, [](Vector<float> v) { return vector_log_sigmoid_and_slope<float>(v); });
}
void log_sigmoid_double(const double* x, double* y, double* slope, std::int64_t count) {
  map_with_slope(x, y, slope, count, [](Vector<double> v) { return vector_log_sigmoid_and_slope<double>(v); });
}
void gelu_float(const float* x, float* y, float* slope, std::int64_t count) {
  map_with_slope(x, y, slope, count, [](Vector<float> v) { return vector_gelu(v); });
}
void gelu_tanh_float(const float* x, float* y, float* slope, std::int64_t count) {
  map_with_slope(x, y, slope, count, [](Vector<float> v) { return vector_gelu_tanh(v); });
}

}  // namespace retrace::kernels::RETRACE_ISA_NAMESPACE

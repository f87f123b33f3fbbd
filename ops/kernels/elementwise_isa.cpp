// Compiled once for each instruction set; see isa.h.
#include <retrace/ops/kernels/isa_functions.h>
#include <retrace/ops/kernels/isa_rows.h>

namespace retrace::kernels::RETRACE_ISA_NAMESPACE {
namespace {

/// y = f(x). The last elements run through the same instructions as the others.
template <class T, class Function>
void map(const T* x, T* y, std::int64_t count, Function f) {
  for_each_vector<T>(count, [&](std::int64_t k, auto part) { part.store_to(y + k, f(part.load_from(x + k))); });
}

/// y = f(x), of a function that gives its slope, too.
template <class T, class Function>
void map_values(const T* x, T* y, std::int64_t count, Function f) {
  for_each_vector<T>(count, [&](std::int64_t k, auto part) { part.store_to(y + k, f(part.load_from(x + k)).value); });
}

/// dx = dy f'(x), added or written.
template <class T, class Function>
void map_gradient(const T* x, const T* dy, T* dx, std::int64_t count, bool add, Function f) {
  for_each_vector<T>(count, [&](std::int64_t k, auto part) {
    const Vector<T> contribution = part.load_from(dy + k) * f(part.load_from(x + k)).slope;
    part.store_to(dx + k, add ? part.load_from(dx + k) + contribution : contribution);
  });
}

}  // namespace

void exp_float(const float* x, float* y, std::int64_t count) { map(x, y, count, vector_exp<float>); }
void exp_double(const double* x, double* y, std::int64_t count) { map(x, y, count, vector_exp<double>); }
void tanh_float(const float* x, float* y, std::int64_t count) { map(x, y, count, vector_tanh<float>); }
void tanh_double(const double* x, double* y, std::int64_t count) { map(x, y, count, vector_tanh<double>); }
void sigmoid_float(const float* x, float* y, std::int64_t count) {
  map_values(x, y, count, vector_sigmoid_and_slope<float>);
}
void sigmoid_double(const double* x, double* y, std::int64_t count) {
  map_values(x, y, count, vector_sigmoid_and_slope<double>);
}
void sigmoid_gradient_float(const float* x, const float* dy, float* dx, std::int64_t count, bool add) {
  map_gradient(x, dy, dx, count, add, vector_sigmoid_and_slope<float>);
}
void sigmoid_gradient_double(const double* x, const double* dy, double* dx, std::int64_t count, bool add) {
  map_gradient(x, dy, dx, count, add, vector_sigmoid_and_slope<double>);
}
void gelu_float(const float* x, float* y, std::int64_t count) { map_values(x, y, count, vector_gelu); }
void gelu_gradient_float(const float* x, const float* dy, float* dx, std::int64_t count, bool add) {
  map_gradient(x, dy, dx, count, add, vector_gelu);
}
void gelu_tanh_float(const float* x, float* y, std::int64_t count) { map_values(x, y, count, vector_gelu_tanh); }
void gelu_tanh_gradient_float(const float* x, const float* dy, float* dx, std::int64_t count, bool add) {
  map_gradient(x, dy, dx, count, add, vector_gelu_tanh);
}

}  // namespace retrace::kernels::RETRACE_ISA_NAMESPACE

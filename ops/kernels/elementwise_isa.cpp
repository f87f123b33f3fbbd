// Compiled once for each instruction set; see isa.h.
#include <retrace/ops/kernels/isa_functions.h>
#include <retrace/ops/kernels/isa_math.h>

namespace retrace::kernels::RETRACE_ISA_NAMESPACE {
namespace {

/// y = f(x). The last elements run through the same instructions as the others.
template <class T, class Function>
void map(const T* x, T* y, std::int64_t count, Function f) {
  std::int64_t k = 0;
  for (; k + lanes<T> <= count; k += lanes<T>) store(y + k, f(load(x + k)));
  if (k < count) store_first(y + k, f(load_first(x + k, static_cast<int>(count - k))), static_cast<int>(count - k));
}

}  // namespace

void exp_float(const float* x, float* y, std::int64_t count) { map(x, y, count, vector_exp<float>); }
void exp_double(const double* x, double* y, std::int64_t count) { map(x, y, count, vector_exp<double>); }
void tanh_float(const float* x, float* y, std::int64_t count) { map(x, y, count, vector_tanh<float>); }
void tanh_double(const double* x, double* y, std::int64_t count) { map(x, y, count, vector_tanh<double>); }
void sigmoid_float(const float* x, float* y, std::int64_t count) { map(x, y, count, vector_sigmoid<float>); }
void sigmoid_double(const double* x, double* y, std::int64_t count) { map(x, y, count, vector_sigmoid<double>); }
void sigmoid_slope_float(const float* x, float* y, std::int64_t count) { map(x, y, count, vector_sigmoid_slope<float>); }
void sigmoid_slope_double(const double* x, double* y, std::int64_t count) {
  map(x, y, count, vector_sigmoid_slope<double>);
}

}  // namespace retrace::kernels::RETRACE_ISA_NAMESPACE

#include <retrace/ops/kernels/elementwise.h>
#include <retrace/ops/kernels/isa.h>

namespace retrace::kernels {

void exp(const float* x, float* y, std::int64_t count) { kernel_table().exp_float(x, y, count); }
void exp(const double* x, double* y, std::int64_t count) { kernel_table().exp_double(x, y, count); }
void tanh(const float* x, float* y, std::int64_t count) { kernel_table().tanh_float(x, y, count); }
void tanh(const double* x, double* y, std::int64_t count) { kernel_table().tanh_double(x, y, count); }
void sigmoid(const float* x, float* y, std::int64_t count) { kernel_table().sigmoid_float(x, y, count); }
void sigmoid(const double* x, double* y, std::int64_t count) { kernel_table().sigmoid_double(x, y, count); }
void sigmoid_gradient(const float* x, const float* dy, float* dx, std::int64_t count, bool add) {
  kernel_table().sigmoid_gradient_float(x, dy, dx, count, add);
}
void sigmoid_gradient(const double* x, const double* dy, double* dx, std::int64_t count, bool add) {
  kernel_table().sigmoid_gradient_double(x, dy, dx, count, add);
}
void gelu(const float* x, float* y, std::int64_t count) { kernel_table().gelu_float(x, y, count); }
void gelu_gradient(const float* x, const float* dy, float* dx, std::int64_t count, bool add) {
  kernel_table().gelu_gradient_float(x, dy, dx, count, add);
}
void gelu_tanh(const float* x, float* y, std::int64_t count) { kernel_table().gelu_tanh_float(x, y, count); }
void gelu_tanh_gradient(const float* x, const float* dy, float* dx, std::int64_t count, bool add) {
  kernel_table().gelu_tanh_gradient_float(x, dy, dx, count, add);
}

}  // namespace retrace::kernels

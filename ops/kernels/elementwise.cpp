#include <retrace/ops/kernels/elementwise.h>
#include <retrace/ops/kernels/isa.h>

namespace retrace::kernels {

void exp(const float* x, float* y, std::int64_t count) { kernel_table().exp_float(x, y, count); }
void exp(const double* x, double* y, std::int64_t count) { kernel_table().exp_double(x, y, count); }
void tanh(const float* x, float* y, std::int64_t count) { kernel_table().tanh_float(x, y, count); }
void tanh(const double* x, double* y, std::int64_t count) { kernel_table().tanh_double(x, y, count); }
void sigmoid(const float* x, float* y, std::int64_t count) { kernel_table().sigmoid_float(x, y, count); }
void sigmoid(const double* x, double* y, std::int64_t count) { kernel_table().sigmoid_double(x, y, count); }
void sigmoid_slope(const float* x, float* y, std::int64_t count) { kernel_table().sigmoid_slope_float(x, y, count); }
void sigmoid_slope(const double* x, double* y, std::int64_t count) { kernel_table().sigmoid_slope_double(x, y, count); }

}  // namespace retrace::kernels

#include <retrace/ops/kernels/elementwise.h>
#include <retrace/ops/kernels/isa.h>

namespace retrace::kernels {

void add_rows(const float* x, std::int64_t row_stride, std::int64_t rows, std::int64_t columns, float* y) {
  kernel_table().add_rows_float(x, row_stride, rows, columns, y);
}
void add_rows(const double* x, std::int64_t row_stride, std::int64_t rows, std::int64_t columns, double* y) {
  kernel_table().add_rows_double(x, row_stride, rows, columns, y);
}
void relu(const float* x, float* y, std::int64_t count) { kernel_table().relu_float(x, y, count); }
void relu(const double* x, double* y, std::int64_t count) { kernel_table().relu_double(x, y, count); }
void exp(const float* x, float* y, std::int64_t count) { kernel_table().exp_float(x, y, count); }
void exp(const double* x, double* y, std::int64_t count) { kernel_table().exp_double(x, y, count); }
void tanh(const float* x, float* y, std::int64_t count) { kernel_table().tanh_float(x, y, count); }
void tanh(const double* x, double* y, std::int64_t count) { kernel_table().tanh_double(x, y, count); }
void sigmoid(const float* x, float* y, std::int64_t count) { kernel_table().sigmoid_float(x, y, nullptr, count); }
void sigmoid(const double* x, double* y, std::int64_t count) { kernel_table().sigmoid_double(x, y, nullptr, count); }
void sigmoid(const float* x, float* y, float* slope, std::int64_t count) {
  kernel_table().sigmoid_float(x, y, slope, count);
}
void sigmoid(const double* x, double* y, double* slope, std::int64_t count) {
  kernel_table().sigmoid_double(x, y, slope, count);
}
void log(const float* x, float* y, std::int64_t count) { kernel_table().log_float(x, y, count); }
void log(const double* x, double* y, std::int64_t count) { kernel_table().log_double(x, y, count); }
void softplus(const float* x, float* y, float* slope, std::int64_t count) {
  kernel_table().softplus_float(x, y, slope, count);
}
void softplus(const double* x, double* y, double* slope, std::int64_t count) {
  kernel_table().softplus_double(x, y, slope, count);
}
void log_sigmoid(const float* x, float* y, float* slope, std::int64_t count) {
  kernel_table().log_sigmoid_float(x, y, slope, count);
}
void log_sigmoid(const double* x, double* y, double* slope, std::int64_t count) {
  kernel_table().log_sigmoid_double(x, y, slope, count);
}
void gelu(const float* x, float* y, float* slope, std::int64_t count) { kernel_table().gelu_float(x, y, slope, count); }
void gelu_tanh(const float* x, float* y, float* slope, std::int64_t count) {
  kernel_table().gelu_tanh_float(x, y, slope, count);
}

}  // namespace retrace::kernels

#include <retrace/ops/kernels/isa.h>

namespace retrace::kernels {

template <>
void gemm(GemmShape shape, GemmOperand<float> a, GemmOperand<float> b, GemmResult<float> c) {
  kernel_table().gemm_float(shape, a, b, c);
}

template <>
void gemm(GemmShape shape, GemmOperand<double> a, GemmOperand<double> b, GemmResult<double> c) {
  kernel_table().gemm_double(shape, a, b, c);
}

}  // namespace retrace::kernels

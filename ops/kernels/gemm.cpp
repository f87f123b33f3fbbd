#include <retrace/ops/kernels/isa.h>

namespace retrace::kernels {

template <> void gemm(GemmShape shape, GemmOperand<float> a, GemmOperand<float> b, GemmResult<float> c) {
  kernels_of<GemmKernels>().gemm_float(shape, a, b, c);
}

template <> void gemm(GemmShape shape, GemmOperand<double> a, GemmOperand<double> b, GemmResult<double> c) {
  kernels_of<GemmKernels>().gemm_double(shape, a, b, c);
}

template <> void pack_right_factor(std::int64_t k, std::int64_t n, GemmOperand<float> b, float* panels) {
  kernels_of<GemmKernels>().pack_float(k, n, b, panels);
}

template <> void pack_right_factor(std::int64_t k, std::int64_t n, GemmOperand<double> b, double* panels) {
  kernels_of<GemmKernels>().pack_double(k, n, b, panels);
}

}  // namespace retrace::kernels

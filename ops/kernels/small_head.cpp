#include <retrace/ops/kernels/isa.h>

namespace retrace::kernels {

template <> const HeadKernels<float>& head_kernels<float>() { return kernel_table().heads_float; }
template <> const HeadKernels<double>& head_kernels<double>() { return kernel_table().heads_double; }

}  // namespace retrace::kernels

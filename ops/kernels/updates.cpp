#include <retrace/ops/kernels/isa.h>

namespace retrace::kernels {

template <> const UpdateKernels<float>& update_kernels<float>() { return kernel_table().updates_float; }
template <> const UpdateKernels<double>& update_kernels<double>() { return kernel_table().updates_double; }

}  // namespace retrace::kernels

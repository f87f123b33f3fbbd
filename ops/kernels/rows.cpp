#include <retrace/ops/kernels/isa.h>

namespace retrace::kernels {

template <> const RowKernels<float>& row_kernels<float>() { return kernel_table().rows_float; }
template <> const RowKernels<double>& row_kernels<double>() { return kernel_table().rows_double; }

}  // namespace retrace::kernels

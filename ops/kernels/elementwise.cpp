#include <retrace/ops/kernels/isa.h>

namespace retrace::kernels {

template <> const MapKernels<float>& map_kernels<float>() { return *kernel_table().maps_float; }
template <> const MapKernels<double>& map_kernels<double>() { return *kernel_table().maps_double; }

}  // namespace retrace::kernels

#include <retrace/ops/kernels/isa.h>

namespace retrace::kernels {

template <> const MapKernels<float>& map_kernels<float>() { return *kernels_of<MapKernelsOfTypes>().maps_float; }
template <> const MapKernels<double>& map_kernels<double>() { return *kernels_of<MapKernelsOfTypes>().maps_double; }

}  // namespace retrace::kernels

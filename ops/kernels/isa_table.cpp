// Compiled once for each instruction set; see isa.h.
#include <retrace/ops/kernels/isa_functions.h>
#include <retrace/ops/kernels/isa_vector.h>

namespace retrace::kernels::RETRACE_ISA_NAMESPACE {
namespace {

constexpr void fill(IsaTraits& traits) {
  traits = {
#if defined(__AVX512F__)
    .name = "v4",
#elif defined(__AVX2__)
    .name = "v3",
#elif defined(__SSE4_2__)
    .name = "v2",
#else
    .name = "generic",
#endif
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
    .fused = true,
#else
    .fused = false,
#endif
    .vector_bytes = lanes<float> * sizeof(float),
  };
}

constexpr void fill(GemmKernels& kernels) { kernels = {gemm_float, gemm_double, pack_float, pack_double}; }
constexpr void fill(MapKernelsOfTypes& kernels) { kernels = {&maps_of_floats, &maps_of_doubles}; }
/// The kernel of any arguments.
struct KernelOfThisSet {
  template <template <class> class Args> constexpr operator Kernel<Args>() const { return {run<float>, run<double>}; }
};
template <class Kernels> constexpr void fill(Kernels& kernels) {
  if constexpr (requires { Kernels{KernelOfThisSet(), KernelOfThisSet()}; })
    kernels = {KernelOfThisSet(), KernelOfThisSet()};
  else
    kernels = {KernelOfThisSet()};
}

template <class... Parts> constexpr void fill_parts(KernelTable& table) { (fill(static_cast<Parts&>(table)), ...); }
constexpr void fill(KernelTable& table) {
  fill_parts<IsaTraits, GemmKernels, MapKernelsOfTypes, SoftmaxKernels, LossKernels, LayerNormKernels, LstmKernels,
             GruKernels, GatedMemoryKernels, RotaryKernels, UpdateKernels, HeadKernels>(table);
}

template <class Part> constexpr Part filled() {
  Part part{};
  fill(part);
  return part;
}

}  // namespace

template <class Part> const Part& part() {
  static constexpr Part of_this_set = filled<Part>();
  return of_this_set;
}
template const IsaTraits& part();
template const GemmKernels& part();
template const MapKernelsOfTypes& part();
template const SoftmaxKernels& part();
template const LossKernels& part();
template const LayerNormKernels& part();
template const LstmKernels& part();
template const GruKernels& part();
template const GatedMemoryKernels& part();
template const RotaryKernels& part();
template const UpdateKernels& part();
template const HeadKernels& part();
template const KernelTable& part();

}  // namespace retrace::kernels::RETRACE_ISA_NAMESPACE

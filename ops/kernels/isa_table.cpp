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
constexpr void fill(SoftmaxKernels& kernels) {
  kernels = {.softmax = {softmax_rows<float>, softmax_rows<double>},
             .softmax_gradient = {softmax_gradient_rows<float>, softmax_gradient_rows<double>}};
}
constexpr void fill(LossKernels& kernels) {
  kernels = {.log_sum_exp = {log_sum_exp_rows<float>, log_sum_exp_rows<double>},
             .scaled_exp = {scaled_exp<float>, scaled_exp<double>}};
}
constexpr void fill(LayerNormKernels& kernels) {
  kernels = {.layer_norm = {layer_norm_rows<float>, layer_norm_rows<double>},
             .layer_norm_gradient = {layer_norm_gradient_rows<float>, layer_norm_gradient_rows<double>}};
}
constexpr void fill(LstmKernels& kernels) {
  kernels = {.lstm_forward = {lstm_forward_row<float>, lstm_forward_row<double>},
             .lstm_backward = {lstm_backward_row<float>, lstm_backward_row<double>}};
}
constexpr void fill(GruKernels& kernels) {
  kernels = {.gru_forward = {gru_forward_row<float>, gru_forward_row<double>},
             .gru_backward = {gru_backward_row<float>, gru_backward_row<double>}};
}
constexpr void fill(GatedMemoryKernels& kernels) {
  kernels = {.slot_forward = {slot_forward_row<float>, slot_forward_row<double>},
             .slot_backward = {slot_backward_row<float>, slot_backward_row<double>}};
}
constexpr void fill(RotaryKernels& kernels) { kernels = {.turn_rows = {turn_rows<float>, turn_rows<double>}}; }
constexpr void fill(UpdateKernels& kernels) {
  kernels = {.adam = {adam_step<float>, adam_step<double>},
             .check_finite = {check_finite<float>, check_finite<double>}};
}
constexpr void fill(HeadKernels& kernels) {
  kernels = {.head_forward = {head_forward<float>, head_forward<double>},
             .head_backward = {head_backward<float>, head_backward<double>}};
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

// Compiled once for each instruction set; see isa.h.
#include <retrace/ops/kernels/isa_functions.h>
#include <retrace/ops/kernels/isa_vector.h>

namespace retrace::kernels::RETRACE_ISA_NAMESPACE {

extern const KernelTable table;
constinit const KernelTable table = {
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
    .gemm_float = gemm_float,
    .gemm_double = gemm_double,
    .maps_float = &maps_of_floats,
    .maps_double = &maps_of_doubles,
    .softmax = {softmax_rows<float>, softmax_rows<double>},
    .softmax_gradient = {softmax_gradient_rows<float>, softmax_gradient_rows<double>},
    .log_sum_exp = {log_sum_exp_rows<float>, log_sum_exp_rows<double>},
    .scaled_exp = {scaled_exp<float>, scaled_exp<double>},
    .layer_norm = {layer_norm_rows<float>, layer_norm_rows<double>},
    .layer_norm_gradient = {layer_norm_gradient_rows<float>, layer_norm_gradient_rows<double>},
    .lstm_forward = {lstm_forward_row<float>, lstm_forward_row<double>},
    .lstm_backward = {lstm_backward_row<float>, lstm_backward_row<double>},
    .slot_forward = {slot_forward_row<float>, slot_forward_row<double>},
    .slot_backward = {slot_backward_row<float>, slot_backward_row<double>},
    .adam = {adam_step<float>, adam_step<double>},
    .check_finite = {check_finite<float>, check_finite<double>},
    .head_forward = {head_forward<float>, head_forward<double>},
    .head_backward = {head_backward<float>, head_backward<double>},
    .pack_float = pack_float,
    .pack_double = pack_double,
};

}  // namespace retrace::kernels::RETRACE_ISA_NAMESPACE

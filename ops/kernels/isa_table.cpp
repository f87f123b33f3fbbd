// Compiled once for each instruction set; see isa.h.
#include <retrace/ops/kernels/isa_functions.h>
#include <retrace/ops/kernels/isa_vector.h>

namespace retrace::kernels::RETRACE_ISA_NAMESPACE {
namespace {

template <class T>
constexpr RowKernels<T> row_kernels = {
    .softmax = softmax_rows<T>,
    .softmax_gradient = softmax_gradient_rows<T>,
    .log_sum_exp = log_sum_exp_rows<T>,
    .scaled_exp = scaled_exp<T>,
    .layer_norm = layer_norm_rows<T>,
    .layer_norm_gradient = layer_norm_gradient_rows<T>,
};

template <class T>
constexpr UpdateKernels<T> update_kernels = {
    .adam = adam_step<T>,
    .lstm_forward = lstm_forward_row<T>,
    .lstm_backward = lstm_backward_row<T>,
    .slot_forward = slot_forward_row<T>,
    .slot_backward = slot_backward_row<T>,
    .are_finite = all_are_finite<T>,
};

template <class T>
constexpr HeadKernels<T> head_kernels = {
    .most_keys = lanes<T>,
    .forward = head_forward<T>,
    .backward = head_backward<T>,
};

}  // namespace

extern const KernelTable table;
constinit const KernelTable table = {
#if defined(__AVX512F__)
    .name = "v4",
#elif defined(__AVX2__)
    .name = "v3",
#elif defined(__x86_64__)
    .name = "v2",
#else
    .name = "generic",
#endif
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
    .fused = true,
#else
    .fused = false,
#endif
    .gemm_float = gemm_float,
    .gemm_double = gemm_double,
    .maps_float = &maps_of_floats,
    .maps_double = &maps_of_doubles,
    .rows_float = row_kernels<float>,
    .rows_double = row_kernels<double>,
    .updates_float = update_kernels<float>,
    .updates_double = update_kernels<double>,
    .heads_float = head_kernels<float>,
    .heads_double = head_kernels<double>,
    .pack_float = pack_float,
    .pack_double = pack_double,
};

}  // namespace retrace::kernels::RETRACE_ISA_NAMESPACE

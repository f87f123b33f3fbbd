// Compiled once for each instruction set; see isa.h.
#include <retrace/ops/kernels/isa_functions.h>

namespace retrace::kernels::RETRACE_ISA_NAMESPACE {

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
    .exp_float = exp_float,
    .exp_double = exp_double,
    .tanh_float = tanh_float,
    .tanh_double = tanh_double,
    .sigmoid_float = sigmoid_float,
    .sigmoid_double = sigmoid_double,
    .sigmoid_slope_float = sigmoid_slope_float,
    .sigmoid_slope_double = sigmoid_slope_double,
};

}  // namespace retrace::kernels::RETRACE_ISA_NAMESPACE

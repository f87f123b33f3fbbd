// The kernels that are compiled once for each instruction set; RETRACE_ISA_NAMESPACE names the one being compiled.
#pragma once

#include <retrace/ops/kernels/isa.h>

/// Compiles a kernel for both types.
#define RETRACE_INSTANTIATE_KERNEL(Args) \
  template void run(const Args<float>&); \
  template void run(const Args<double>&)

namespace retrace::kernels::RETRACE_ISA_NAMESPACE {

using Index = std::int64_t;

GemmFunction<float> gemm_float;
GemmFunction<double> gemm_double;
PackFunction<float> pack_float;
PackFunction<double> pack_double;
extern const MapKernels<float> maps_of_floats;
extern const MapKernels<double> maps_of_doubles;

/// The kernels by their arguments.
template <class T> void run(const SoftmaxRows<T>& args);
template <class T> void run(const SoftmaxGradientRows<T>& args);
template <class T> void run(const LogSumExpRows<T>& args);
template <class T> void run(const ScaledExp<T>& args);
template <class T> void run(const LayerNormRows<T>& args);
template <class T> void run(const LayerNormGradientRows<T>& args);
template <class T> void run(const AdamStep<T>& args);
template <class T> void run(const LstmForward<T>& args);
template <class T> void run(const LstmBackward<T>& args);
template <class T> void run(const GruForward<T>& args);
template <class T> void run(const GruBackward<T>& args);
template <class T> void run(const SlotForward<T>& args);
template <class T> void run(const SlotBackward<T>& args);
template <class T> void run(const TurnedRows<T>& args);
template <class T> void run(const FiniteCheck<T>& args);
template <class T> void run(const HeadForward<T>& args);
template <class T> void run(const HeadBackward<T>& args);

}  // namespace retrace::kernels::RETRACE_ISA_NAMESPACE

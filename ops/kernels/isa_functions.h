// The kernels that are compiled once for each instruction set; RETRACE_ISA_NAMESPACE names the one being compiled.
#pragma once

#include <retrace/ops/kernels/isa.h>

namespace retrace::kernels::RETRACE_ISA_NAMESPACE {

GemmFunction<float> gemm_float;
GemmFunction<double> gemm_double;
PackFunction<float> pack_float;
PackFunction<double> pack_double;
extern const MapKernels<float> maps_of_floats;
extern const MapKernels<double> maps_of_doubles;

using Index = std::int64_t;
template <class T> void softmax_rows(const SoftmaxRows<T>& args);
template <class T> void softmax_gradient_rows(const SoftmaxGradientRows<T>& args);
template <class T> void log_sum_exp_rows(const LogSumExpRows<T>& args);
template <class T> void scaled_exp(const ScaledExp<T>& args);
template <class T> void layer_norm_rows(const LayerNormRows<T>& args);
template <class T> void layer_norm_gradient_rows(const LayerNormGradientRows<T>& args);
template <class T> void adam_step(const AdamStep<T>& args);
template <class T> void lstm_forward_row(const LstmForward<T>& args);
template <class T> void lstm_backward_row(const LstmBackward<T>& args);
template <class T> void gru_forward_row(const GruForward<T>& args);
template <class T> void gru_backward_row(const GruBackward<T>& args);
template <class T> void slot_forward_row(const SlotForward<T>& args);
template <class T> void slot_backward_row(const SlotBackward<T>& args);
template <class T> void turn_rows(const TurnedRows<T>& args);
template <class T> void check_finite(const FiniteCheck<T>& args);
template <class T> void head_forward(const HeadForward<T>& head);
template <class T> void head_backward(const HeadBackward<T>& head);

}  // namespace retrace::kernels::RETRACE_ISA_NAMESPACE

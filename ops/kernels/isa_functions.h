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
template <class T> void softmax_rows(const SoftmaxRows<T>& at);
template <class T> void softmax_gradient_rows(const SoftmaxGradientRows<T>& at);
template <class T> void log_sum_exp_rows(const LogSumExpRows<T>& at);
template <class T> void scaled_exp(const T* x, T shift, T factor, T* y, Index count, bool add);
template <class T> void layer_norm_rows(const LayerNormRows<T>& at);
template <class T> void layer_norm_gradient_rows(const LayerNormGradientRows<T>& at);
template <class T> void adam_step(const AdamStep<T>& step);
template <class T> void lstm_forward_row(const LstmForward<T>& row);
template <class T> void lstm_backward_row(const LstmBackward<T>& row);
template <class T> void slot_forward_row(const SlotForward<T>& row);
template <class T> void slot_backward_row(const SlotBackward<T>& row);
template <class T> bool all_are_finite(const T* x, Index count);
template <class T> void head_forward(const HeadForward<T>& head);
template <class T> void head_backward(const HeadBackward<T>& head);

}  // namespace retrace::kernels::RETRACE_ISA_NAMESPACE

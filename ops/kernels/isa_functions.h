// The kernels that are compiled once for each instruction set; RETRACE_ISA_NAMESPACE names the one being compiled.
#pragma once

#include <retrace/ops/kernels/isa.h>

namespace retrace::kernels::RETRACE_ISA_NAMESPACE {

GemmFunction<float> gemm_float;
GemmFunction<double> gemm_double;
MapFunction<float> exp_float;
MapFunction<double> exp_double;
MapFunction<float> tanh_float;
MapFunction<double> tanh_double;
MapFunction<float> sigmoid_float;
MapFunction<double> sigmoid_double;
MapFunction<float> sigmoid_slope_float;
MapFunction<double> sigmoid_slope_double;

}  // namespace retrace::kernels::RETRACE_ISA_NAMESPACE

// The evals of GradBench that Retrace computes.
#pragma once

#include <retrace/benchmarks/gradbench/protocol.h>
#include <retrace/core/checks/derivatives.h>
#include <retrace/ops/ops.h>

namespace retrace::gradbench {

extern const Eval ba, det, gmm, hello, ht, kmeans, llsq, lse, lstm, ode, particle, saddle;

inline constexpr const Eval* retrace_evals[] = {&ba,   &det, &gmm,  &hello, &ht,       &kmeans,
                                                &llsq, &lse, &lstm, &ode,   &particle, &saddle};
inline constexpr Tool retrace_tool{"retrace", retrace_evals};

/// The gradients of a scalar f at each x.
inline Tensors gradients_of(const TensorsFunction& f, const Tensors& x) { return vjp(f, x, ones({}, f64)); }
/// The gradient of a scalar f at x.
inline Tensor gradient_of(const TensorFunction& f, const Tensor& x) { return vjp(f, x, ones({}, f64)); }

}  // namespace retrace::gradbench

#include <retrace/models/study/computation.h>

namespace retrace {

Tensor Computation::cotangent_of(const Tensor& y) const {
  if (!cotangents) return {};
  Random random = *cotangents;
  return random.normal(y.shape(), y.dtype());
}

Trace trace_of(const Computation& computation, const HeldOptions& options) {
  const DtypeScope scope(computation.dtype);
  Tape tape({.keep = true, .expand_fused = options.expand_fused});
  const Tensor y = computation.result();
  if (!y.wants_gradient())
    throw ValueError(text("study: no gradient flows back from the result of ", computation.title,
                          ": it is constant, or made of integers; use a real input in a way that has a derivative"));
  const TraceOptions held{.title = computation.title, .names = computation.names, .max_elements = options.max_elements};
  if (const Tensor cotangent = computation.cotangent_of(y); cotangent.defined())
    return trace_backward(tape, {y}, {cotangent}, held);
  return trace_backward(tape, y, held);
}

}  // namespace retrace

#include <retrace/ops/gelu.h>
#include <retrace/ops/ops.h>

namespace retrace {

Tensor gelu(const Tensor& x) { return unary<Gelu>(x); }
Tensor gelu_tanh(const Tensor& x) { return unary<GeluTanh>(x); }

}  // namespace retrace

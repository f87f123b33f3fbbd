#include <retrace/ops/ops.h>
#include <retrace/ops/tanh.h>

namespace retrace {

Tensor tanh(const Tensor& x) { return unary<Tanh>(x); }

}  // namespace retrace

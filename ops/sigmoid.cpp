#include <retrace/ops/ops.h>
#include <retrace/ops/sigmoid.h>

namespace retrace {

Tensor sigmoid(const Tensor& x) { return unary<Sigmoid>(x); }

}  // namespace retrace

// The gradient-check table of the ops: several shapes each, with broadcasting, empty and 0-d tensors where they differ.
#include <retrace/models/checks/op_cases_elementwise.h>
#include <retrace/models/checks/op_cases_losses.h>
#include <retrace/models/checks/op_cases_products.h>
#include <retrace/models/checks/op_cases_shape.h>

namespace retrace {

std::vector<CheckedName> op_cases() {
  using op_checks::Op, op_checks::cases_of;
  op_checks::numbers() = Random(20240607);  // the same points every time
  std::vector<CheckedName> result;
#define OP(name) result.push_back({#name, true, cases_of<Op::name>()});
#define COMPOSITE(name) result.push_back({#name, false, cases_of<Op::name>()});
#include <retrace/ops/ops.def>
#undef OP
#undef COMPOSITE
  return result;
}

}  // namespace retrace

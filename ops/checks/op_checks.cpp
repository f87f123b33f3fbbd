// The gradient-check table of the ops: several shapes each, with broadcasting, empty and 0-d tensors where they differ.
#include <retrace/ops/checks/op_checks.h>

#include <algorithm>
#include <span>

#include <retrace/ops/checks/elementwise.h>
#include <retrace/ops/checks/losses.h>
#include <retrace/ops/checks/products.h>
#include <retrace/ops/checks/sequences.h>
#include <retrace/ops/checks/shapes.h>

namespace retrace {
namespace {

using op_checks::OpChecks;

constexpr std::span<const OpChecks> table[] = {op_checks::elementwise, op_checks::products, op_checks::shapes,
                                               op_checks::losses, op_checks::sequences};

constexpr bool has_row(std::string_view op) {
  return std::ranges::any_of(table, [=](std::span<const OpChecks> rows) {
    return std::ranges::any_of(rows, [=](const OpChecks& row) { return row.name.op.name == op; });
  });
}
#define OP(name, ...) static_assert(has_row(#name), "ops/checks needs a row for the op " #name);
#define COMPOSITE(name, ...) OP(name)
#include <retrace/ops/ops.def>
#undef OP
#undef COMPOSITE

constexpr bool is_in_order() {
  std::span<const op_checks::ListedOp> rest = op_checks::listed_ops;
  for (const std::span<const OpChecks> rows : table)
    for (const OpChecks& row : rows) {
      if (rest.empty() || row.name.op.name != rest.front().name) return false;
      rest = rest.subspan(1);
    }
  return rest.empty();
}
static_assert(is_in_order(), "the rows of ops/checks do not stand in the order of ops.def, one per op");

}  // namespace

std::vector<CheckedName> op_cases() {
  op_checks::numbers() = Random(20240607);  // the same points every time
  std::vector<CheckedName> result;
  for (const std::span<const OpChecks> rows : table)
    for (const auto& [name, cases] : rows)
      result.push_back({std::string(name.op.name), name.op.records_itself, cases()});
  return result;
}

}  // namespace retrace

// Comparisons and logic, and what selects by their masks.
#include <retrace/tests/golden_test/adapters.h>

namespace retrace::golden {
namespace {

template <Tensor (*op)(const Tensor&, const Tensor&), Tensor (*op_of_number)(const Tensor&, Scalar)>
NamedTensors compare(const Arguments& c) {
  return {{"y", c.has("b") ? op(c["a"], c["b"]) : op_of_number(c["a"], c.number("number"))}};
}
template <Tensor (*op)(const Tensor&, const Tensor&)> NamedTensors combine(const Arguments& c) {
  return {{"y", op(c["a"], c["b"])}};
}

NamedTensors run_logical_not(const Arguments& c) { return {{"y", logical_not(c["a"])}}; }
NamedTensors run_where_number(const Arguments& c) { return {{"y", where(c["mask"], c["x"], c.number("number"))}}; }
NamedTensors run_nonzero(const Arguments& c) { return {{"y", nonzero(c["x"])}}; }
NamedTensors run_masked_select(const Arguments& c) { return {{"y", masked_select(c["x"], c["mask"])}}; }

}  // namespace

Adapters comparison_adapters() {
  return {{"equal", compare<equal, equal>},       {"not_equal", compare<not_equal, not_equal>},
          {"less", compare<less, less>},          {"less_equal", compare<less_equal, less_equal>},
          {"greater", compare<greater, greater>}, {"greater_equal", compare<greater_equal, greater_equal>},
          {"logical_and", combine<logical_and>},  {"logical_or", combine<logical_or>},
          {"logical_xor", combine<logical_xor>},  {"logical_not", run_logical_not},
          {"where_number", run_where_number},     {"nonzero", run_nonzero},
          {"masked_select", run_masked_select}};
}

}  // namespace retrace::golden

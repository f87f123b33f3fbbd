#include <retrace/tests/golden_test/adapters.h>

namespace retrace::golden {
namespace {

Axes axes_of(const Arguments& c) {
  if (c.attribute("axes", "all") == "all") return {};
  std::vector<int> axes;
  for (const std::int64_t axis : c.integers("axes")) axes.push_back(static_cast<int>(axis));
  return Axes(std::span<const int>(axes));
}

template <Tensor (*op)(const Tensor&, const Axes&, ReduceOptions)> NamedTensors reduce(const Arguments& c) {
  return {{"y", op(c["x"], axes_of(c), {.keepdims = c.flag("keepdims")})}};
}

NamedTensors run_argmax(const Arguments& c) { return {{"y", argmax(c["x"], c.axis())}}; }
NamedTensors run_argmin(const Arguments& c) { return {{"y", argmin(c["x"], c.axis())}}; }
NamedTensors run_cumsum(const Arguments& c) { return {{"y", cumsum(c["x"], c.axis())}}; }
NamedTensors run_cumprod(const Arguments& c) { return {{"y", cumprod(c["x"], c.axis())}}; }

}  // namespace

Adapters reduction_adapters() {
  return {{"reduce_sum", reduce<sum>},   {"reduce_mean", reduce<mean>}, {"reduce_max", reduce<max>},
          {"reduce_min", reduce<min>},   {"reduce_var", reduce<var>},   {"reduce_logsumexp", reduce<logsumexp>},
          {"reduce_prod", reduce<prod>}, {"norm2", reduce<norm>},       {"argmax", run_argmax},
          {"argmin", run_argmin},        {"cumsum", run_cumsum},        {"cumprod", run_cumprod}};
}

}  // namespace retrace::golden

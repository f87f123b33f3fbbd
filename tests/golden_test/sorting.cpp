#include <retrace/tests/golden_test/adapters.h>

namespace retrace::golden {
namespace {

NamedTensors named(const SortResult& result) { return {{"values", result.values}, {"indices", result.indices}}; }

NamedTensors run_sort(const Arguments& c) {
  return named(sort(c["x"], c.axis(), {.descending = c.flag("descending")}));
}
NamedTensors run_argsort(const Arguments& c) {
  return {{"y", argsort(c["x"], c.axis(), {.descending = c.flag("descending")})}};
}
NamedTensors run_topk(const Arguments& c) {
  return named(topk(c["x"], c.integer("k"), c.axis(), {.largest = c.flag("largest")}));
}

}  // namespace

Adapters sorting_adapters() { return {{"sort", run_sort}, {"argsort", run_argsort}, {"topk", run_topk}}; }

}  // namespace retrace::golden

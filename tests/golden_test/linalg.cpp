#include <retrace/tests/golden_test/adapters.h>

namespace retrace::golden {
namespace {

NamedTensors run_matmul(const Arguments& c) {
  const MatmulOptions options{.transpose_a = c.flag("ta"), .transpose_b = c.flag("tb")};
  return {{"y", matmul(c.first({"a", "x"}), c.first({"b", "x"}), options)}};
}
NamedTensors run_linear(const Arguments& c) { return {{"y", linear(c["x"], c["W"], c.optional("b"))}}; }
NamedTensors run_outer(const Arguments& c) { return {{"y", outer(c.first({"a", "x"}), c.first({"b", "x"}))}}; }

}  // namespace

Adapters linalg_adapters() { return {{"matmul", run_matmul}, {"linear", run_linear}, {"outer", run_outer}}; }

}  // namespace retrace::golden

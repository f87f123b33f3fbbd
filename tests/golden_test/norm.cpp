#include <retrace/tests/golden_test/adapters.h>

namespace retrace::golden {
namespace {

NamedTensors run_layer_norm(const Arguments& c) {
  const LayerNormOptions options{.axes = static_cast<int>(c.integer("naxes", 1)), .eps = c.number("eps", 1e-5)};
  return {{"y", layer_norm(c["x"], c.optional("gamma"), c.optional("beta"), options)}};
}
NamedTensors run_rms_norm(const Arguments& c) {
  return {{"y", rms_norm(c["x"], c.optional("gamma"), c.number("eps", 1e-6))}};
}

}  // namespace

Adapters norm_adapters() { return {{"layer_norm", run_layer_norm}, {"rms_norm", run_rms_norm}}; }

}  // namespace retrace::golden

// einsum, and the activations and losses of losses_and_einsum.safetensors.
#include <retrace/tests/golden_test/adapters.h>

namespace retrace::golden {
namespace {

NamedTensors run_elu(const Arguments& c) { return {{"y", elu(c["x"], c.number("alpha"))}}; }
NamedTensors run_selu(const Arguments& c) { return {{"y", selu(c["x"])}}; }
NamedTensors run_mish(const Arguments& c) { return {{"y", mish(c["x"])}}; }
NamedTensors run_swiglu(const Arguments& c) { return {{"y", swiglu(c["x"])}}; }

template <Tensor (*op)(const Tensor&, const Axes&, ReduceOptions, double)>
NamedTensors run_corrected(const Arguments& c) {
  Axes axes;
  if (c.attribute("axes") != "all") {
    std::vector<int> named;
    for (const std::int64_t axis : c.integers("axes")) named.push_back(static_cast<int>(axis));
    axes = Axes(std::span<const int>(named));
  }
  return {{"y", op(c["x"], axes, {}, c.number("correction"))}};
}

NamedTensors run_smooth_l1(const Arguments& c) {
  return {{"y", smooth_l1(c["x"], c["t"], c.number("beta"), reduction_of(c))}};
}
NamedTensors run_huber(const Arguments& c) {
  return {{"y", huber(c["x"], c["t"], c.number("delta"), reduction_of(c))}};
}
NamedTensors run_kl_divergence(const Arguments& c) {
  return {{"y", kl_divergence(c["x"], c["t"], {.reduction = reduction_of(c), .log_target = c.flag("log_target")})}};
}

NamedTensors run_einsum(const Arguments& c) { return {{"y", einsum(c.attribute("equation"), c.numbered("x"))}}; }

}  // namespace

Adapters losses_and_einsum_adapters() {
  return {{"elu", run_elu},
          {"selu", run_selu},
          {"mish", run_mish},
          {"swiglu", run_swiglu},
          {"var_corrected", run_corrected<var>},
          {"std_corrected", run_corrected<std>},
          {"smooth_l1", run_smooth_l1},
          {"huber", run_huber},
          {"kl_divergence", run_kl_divergence},
          {"einsum", run_einsum}};
}

}  // namespace retrace::golden

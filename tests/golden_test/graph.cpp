// Composite expressions that test the tape: the name of the case says which.
#include <cmath>

#include <retrace/tests/golden_test/adapters.h>

namespace retrace::golden {
namespace {

NamedTensors diamond(const Arguments& c) {
  const Tensor& x = c["x"];
  return {{"y", sin(x) * exp(x) + x * x}};
}
NamedTensors reuse3(const Arguments& c) {
  const Tensor& x = c["x"];
  return {{"y", x * c["z"] + x + tanh(x) * x}};
}
NamedTensors detached(const Arguments& c) {
  const Tensor &x = c["x"], fixed = x.detach();
  return {{"y", x * fixed + tanh(fixed)}};
}

/// Rounds half to even, without a gradient.
Tensor rounded(const Tensor& x) {
  const Tensor result = x.detach().clone();
  dispatch_real(x.dtype(), "rounded", [&](auto zero) {
    for (auto& value : result.mutable_values<decltype(zero)>())
      value = static_cast<decltype(zero)>(std::nearbyint(static_cast<double>(value)));
  });
  return result;
}
NamedTensors straight_through(const Arguments& c) {
  const Tensor& x = c["x"];
  return {{"y", x + (rounded(x) - x.detach())}};
}

NamedTensors unused_input(const Arguments& c) { return {{"y", exp(c["x"])}}; }
NamedTensors two_outputs(const Arguments& c) { return {{"a", sin(c["x"])}, {"b", sum(cos(c["x"]), 0)}}; }
NamedTensors one_of_two(const Arguments& c) { return {{"a", sin(c["x"])}, {"b", cos(c["x"])}}; }

NamedTensors deep_chain(const Arguments& c) {
  Tensor h = c["x"];
  for (std::int64_t step = 0; step < c.integer("steps"); ++step) h = tanh(0.99 * h + 0.01);
  return {{"y", h}};
}
NamedTensors fan_out(const Arguments& c) {
  const Tensor& x = c["x"];
  Tensor y = zeros_like(x);
  for (std::int64_t k = 0; k < c.integer("fan"); ++k) y = y + sin(x * (1 + 0.01 * static_cast<double>(k)));
  return {{"y", y}};
}
NamedTensors fibonacci(const Arguments& c) {
  Tensor a = c["x"], b = 0.5 * a;
  for (std::int64_t step = 0; step < c.integer("steps"); ++step) {
    const Tensor next = 0.6 * a + 0.4 * sin(b);
    a = b;
    b = next;
  }
  return {{"y", b}};
}
NamedTensors mixed_view(const Arguments& c) {
  const Tensor& x = c["x"];
  const Shape flat{x.numel()};
  const Tensor inner = slice(reshape(transpose(x), flat), {range(1, -1)});
  return {{"y", sum(inner * slice(reshape(x, flat), {range(2)})) + prod(x[0])}};
}
NamedTensors mlp_loss(const Arguments& c) {
  return {{"y", mean(square(matmul(relu(matmul(c["x"], c["W1"])), c["W2"])))}};
}
NamedTensors weight_tied(const Arguments& c) {
  return {{"y", matmul(tanh(matmul(c["x"], c["W"])), c["W"], {.transpose_b = true})}};
}

/// The formula whose name is that of the case or a prefix of it ("diamond_large").
NamedTensors run_graph(const Arguments& c) {
  static const Adapters formulas{{"diamond", diamond},           {"reuse3", reuse3},
                                 {"detach", detached},           {"straight_through", straight_through},
                                 {"unused_input", unused_input}, {"two_outputs", two_outputs},
                                 {"one_of_two", one_of_two},     {"deep_chain", deep_chain},
                                 {"fan_out", fan_out},           {"fibonacci", fibonacci},
                                 {"mixed_view", mixed_view},     {"mlp_loss", mlp_loss},
                                 {"weight_tied", weight_tied}};
  for (const auto& [name, formula] : formulas)
    if (c.case_name().find(name) != std::string::npos) return formula(c);
  throw Unsupported("no formula " + c.case_name());
}

}  // namespace

Adapters graph_adapters() { return {{"graph", run_graph}}; }

}  // namespace retrace::golden

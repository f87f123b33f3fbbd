// Arithmetic and activations.
#include <retrace/tests/golden_test/adapters.h>

namespace retrace::golden {
namespace {

template <Tensor (*op)(const Tensor&)> NamedTensors unary(const Arguments& c) { return {{"y", op(c["x"])}}; }

/// in/a and in/b, or in/x for both.
template <Tensor (*op)(const Tensor&, const Tensor&)> NamedTensors binary(const Arguments& c) {
  return {{"y", op(c.first({"a", "x"}), c.first({"b", "x"}))}};
}

NamedTensors run_pow(const Arguments& c) { return {{"y", pow(c["x"], c.number("p"))}}; }
NamedTensors run_clip(const Arguments& c) { return {{"y", clip(c["x"], c.number("lo"), c.number("hi"))}}; }
NamedTensors run_leaky_relu(const Arguments& c) { return {{"y", leaky_relu(c["x"], c.number("slope"))}}; }
NamedTensors run_masked_fill(const Arguments& c) { return {{"y", masked_fill(c["x"], c["mask"], c.number("value"))}}; }
NamedTensors run_scale_shift(const Arguments& c) { return {{"y", c.number("s") * c["x"] + c.number("t")}}; }
NamedTensors run_where(const Arguments& c) {
  return {{"y", where(c["cond"], c.first({"a", "x"}), c.first({"b", "x"}))}};
}

}  // namespace

Adapters elementwise_adapters() {
  return {{"add", binary<add>},
          {"sub", binary<sub>},
          {"mul", binary<mul>},
          {"div", binary<div>},
          {"maximum", binary<maximum>},
          {"minimum", binary<minimum>},
          {"neg", unary<neg>},
          {"exp", unary<exp>},
          {"log", unary<log>},
          {"sqrt", unary<sqrt>},
          {"square", unary<square>},
          {"abs", unary<abs>},
          {"reciprocal", unary<reciprocal>},
          {"sin", unary<sin>},
          {"cos", unary<cos>},
          {"erf", unary<erf>},
          {"log1p", unary<log1p>},
          {"expm1", unary<expm1>},
          {"sign", unary<sign>},
          {"floor", unary<floor>},
          {"ceil", unary<ceil>},
          {"round", unary<round>},
          {"pow_scalar", run_pow},
          {"clip", run_clip},
          {"where", run_where},
          {"masked_fill", run_masked_fill},
          {"add_scalar_mul", run_scale_shift},
          {"sigmoid", unary<sigmoid>},
          {"tanh", unary<tanh>},
          {"relu", unary<relu>},
          {"gelu", unary<gelu>},
          {"gelu_tanh", unary<gelu_tanh>},
          {"softplus", unary<softplus>},
          {"log_sigmoid", unary<log_sigmoid>},
          {"silu", unary<silu>},
          {"leaky_relu", run_leaky_relu}};
}

}  // namespace retrace::golden

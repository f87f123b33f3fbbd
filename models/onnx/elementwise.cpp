// Functions of elements.
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <utility>

#include <retrace/models/onnx/operators.h>

namespace retrace::onnx {
namespace {

/// The ops that one operator says.
constexpr std::array same{
    std::pair{"identity", "Identity"}, std::pair{"add", "Add"},         std::pair{"sub", "Sub"},
    std::pair{"mul", "Mul"},           std::pair{"neg", "Neg"},         std::pair{"maximum", "Max"},
    std::pair{"minimum", "Min"},       std::pair{"exp", "Exp"},         std::pair{"log", "Log"},
    std::pair{"sqrt", "Sqrt"},         std::pair{"abs", "Abs"},         std::pair{"reciprocal", "Reciprocal"},
    std::pair{"sin", "Sin"},           std::pair{"cos", "Cos"},         std::pair{"asin", "Asin"},
    std::pair{"acos", "Acos"},         std::pair{"atan", "Atan"},       std::pair{"erf", "Erf"},
    std::pair{"sign", "Sign"},         std::pair{"floor", "Floor"},     std::pair{"ceil", "Ceil"},
    std::pair{"round", "Round"},       std::pair{"sigmoid", "Sigmoid"}, std::pair{"tanh", "Tanh"},
    std::pair{"relu", "Relu"}};

void build_same(const Call& call) {
  const auto row = std::ranges::find(same, call.op(), [](const auto& names) { return std::string(names.first); });
  std::vector<std::string> inputs;
  for (int i = 0; i < call.inputs(); ++i) inputs.push_back(call.in(i));
  call.result(call.build.node(row->second, inputs));
}

/// Builds expressions of one dtype.
struct Terms {
  Builder& build;
  Dtype dtype;

  std::string operator()(double value) const { return build.number(value, dtype); }
  std::string add(const std::string& a, const std::string& b) const { return build.node("Add", {a, b}); }
  std::string sub(const std::string& a, const std::string& b) const { return build.node("Sub", {a, b}); }
  std::string mul(const std::string& a, const std::string& b) const { return build.node("Mul", {a, b}); }
  std::string of(std::string_view op, const std::string& x) const { return build.node(op, {x}); }
  /// max(x, 0) + ln(1 + e^-|x|)
  std::string softplus(const std::string& x) const {
    return add(of("Relu", x), of("Log", add((*this)(1), of("Exp", of("Neg", of("Abs", x))))));
  }
  /// max(x, 0) + factor min(x, 0) and, for y = e^x - 1, max(x, 0) + factor min(y, 0).
  std::string bent(const std::string& x, const std::string& below, double factor) const {
    return add(of("Relu", x), mul((*this)(factor), build.node("Min", {below, (*this)(0)})));
  }
  std::string expm1(const std::string& x) const { return sub(of("Exp", x), (*this)(1)); }
  std::string elu(const std::string& x, double alpha) const {
    return bent(x, expm1(build.node("Min", {x, (*this)(0)})), alpha);
  }
  /// x / (1 + e^-x): x times a Sigmoid is what onnxruntime makes one node of, which it lacks in f64.
  std::string silu(const std::string& x) const {
    return build.node("Div", {x, add((*this)(1), of("Exp", of("Neg", x)))});
  }
  /// x (1 + erf(x / sqrt 2)) / 2
  std::string gelu(const std::string& x) const {
    return mul(mul(x, (*this)(0.5)), add((*this)(1), of("Erf", mul(x, (*this)(1 / std::numbers::sqrt2)))));
  }
  /// x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2
  std::string gelu_tanh(const std::string& x) const {
    const std::string cube = mul(mul(x, x), mul(x, (*this)(0.044715)));
    const std::string u = mul(add(x, cube), (*this)(std::sqrt(2 / std::numbers::pi)));
    return mul(mul(x, (*this)(0.5)), add((*this)(1), of("Tanh", u)));
  }
};

Terms terms(const Call& call) { return {call.build, call.dtype()}; }

/// One operator with a number: op, operator, attribute, and whether the number comes first.
void build_with_number(const Call& call, std::string_view op, std::string_view attribute, bool first = false) {
  const std::string c = number(call, call.number(attribute)), x = call.in(0);
  call.result(call.build.node(op, first ? std::vector{c, x} : std::vector{x, c}));
}

void build_div(const Call& call) {
  if (call.has("divisor")) return build_with_number(call, "Div", "divisor");
  if (call.has("dividend")) return build_with_number(call, "Div", "dividend", true);
  call.result(call.build.node("Div", {call.in(0), call.in(1)}));
}

void build_pow(const Call& call) {
  if (call.has("exponent")) return build_with_number(call, "Pow", "exponent");
  call.result(call.build.node("Pow", {call.in(0), call.in(1)}));
}

void build_clip(const Call& call) {
  const std::string low = number(call, call.number("low")), high = number(call, call.number("high"));
  call.result(call.build.node("Min", {call.build.node("Max", {call.in(0), low}), high}));
}

/// ln(z / (1 - z)) of z = x, or x clipped to [eps, 1 - eps].
void build_logit(const Call& call) {
  const Terms t = terms(call);
  std::string z = call.in(0);
  if (call.has("eps"))
    z = call.build.node("Min", {call.build.node("Max", {z, t(call.number("eps"))}), t(1 - call.number("eps"))});
  call.result(t.of("Log", call.build.node("Div", {z, t.sub(t(1), z)})));
}

/// a - b floor(a / b)
void build_remainder(const Call& call) {
  const Terms t = terms(call);
  const std::string a = call.in(0), b = call.in(1);
  call.result(t.sub(a, t.mul(b, t.of("Floor", call.build.node("Div", {a, b})))));
}

/// a ln b, and 0 where a = 0
void build_xlogy(const Call& call) {
  const Terms t = terms(call);
  const std::string a = call.in(0), product = t.mul(a, t.of("Log", call.in(1)));
  call.result(call.build.node("Where", {call.build.node("Equal", {a, t(0)}), t(0), product}));
}

std::string truth(const Call& call, int i) {
  return call.build.node("Cast", {call.in(i)}, {{"to", std::int64_t{static_cast<int>(ElementType::boolean)}}});
}

}  // namespace

std::string activation(Builder& build, std::string_view name, const std::string& x, Dtype dtype) {
  const Terms t{build, dtype};
  if (name == "none") return x;
  if (name == "relu") return t.of("Relu", x);
  if (name == "tanh") return t.of("Tanh", x);
  if (name == "sigmoid") return t.of("Sigmoid", x);
  if (name == "silu") return t.silu(x);
  if (name == "gelu") return t.gelu(x);
  if (name == "gelu_tanh") return t.gelu_tanh(x);
  return "";
}

std::vector<Operator> elementwise_operators() {
  std::vector<Operator> rows{
      {"scale", [](const Call& c) { build_with_number(c, "Mul", "factor"); }, "Mul"},
      {"shift", [](const Call& c) { build_with_number(c, "Add", "offset"); }, "Add"},
      {"div", build_div, "Div"},
      {"pow", build_pow, "Pow"},
      {"clip", build_clip, "Max, Min"},
      {"logit", build_logit, "Sub, Div, Log"},
      {"remainder", build_remainder, "Div, Floor, Mul, Sub"},
      {"xlogy", build_xlogy, "Log, Mul, Equal, Where"},
      {"square", [](const Call& c) { c.result(terms(c).mul(c.in(0), c.in(0))); }, "Mul"},
      {"expm1", [](const Call& c) { c.result(terms(c).expm1(c.in(0))); }, "Exp, Sub"},
      {"log1p", [](const Call& c) { c.result(terms(c).of("Log", terms(c).add(c.in(0), number(c, 1)))); }, "Add, Log"},
      {"softplus", [](const Call& c) { c.result(terms(c).softplus(c.in(0))); }, "Relu, Abs, Exp, Log"},
      {"log_sigmoid",
       [](const Call& c) { c.result(terms(c).of("Neg", terms(c).softplus(terms(c).of("Neg", c.in(0))))); },
       "as softplus"},
      {"leaky_relu", [](const Call& c) { c.result(terms(c).bent(c.in(0), c.in(0), c.number("slope"))); },
       "Relu, Min, Mul"},
      {"elu", [](const Call& c) { c.result(terms(c).elu(c.in(0), c.number("alpha"))); }, "Relu, Min, Exp"},
      {"selu",
       [](const Call& c) {
         c.result(terms(c).mul(number(c, 1.0507009873554805), terms(c).elu(c.in(0), 1.6732632423543772)));
       },
       "Relu, Min, Exp"},
      {"gelu", [](const Call& c) { c.result(terms(c).gelu(c.in(0))); }, "Erf, Mul"},
      {"gelu_tanh", [](const Call& c) { c.result(terms(c).gelu_tanh(c.in(0))); }, "Tanh, Mul"},
      {"silu", [](const Call& c) { c.result(terms(c).silu(c.in(0))); }, "Neg, Exp, Add, Div"},
      {"swiglu",
       [](const Call& c) {
         const auto halves = split(c.build, c.in(0), c.rank(0) - 1, 2);
         c.result(terms(c).mul(terms(c).silu(halves[0]), halves[1]));
       },
       "Split, then as silu, Mul"},
      {"mish", [](const Call& c) { c.result(terms(c).mul(c.in(0), terms(c).of("Tanh", terms(c).softplus(c.in(0))))); },
       "as softplus, Tanh"},
      {"where",
       [](const Call& c) {
         c.result(c.build.node("Where", {truth(c, 0), c.in(1), c.in(2)}));
       },
       "Where"},
      {"masked_fill",
       [](const Call& c) {
         c.result(c.build.node("Where", {truth(c, 1), number(c, c.number("value")), c.in(0)}));
       },
       "Where"},
      {"to",
       [](const Call& c) {
         c.result(c.build.node("Cast", {c.in(0)}, {{"to", std::int64_t{static_cast<int>(element_type(c.dtype()))}}}));
       },
       "Cast"}};
  for (const auto& [op, name] : same) rows.push_back({op, build_same, name});
  return rows;
}

}  // namespace retrace::onnx

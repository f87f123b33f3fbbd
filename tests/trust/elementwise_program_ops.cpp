// Ops of programs that work element by element.
#include <retrace/core/tape/identity.h>
#include <retrace/tests/trust/program_ops.h>

namespace retrace {
namespace {

using naive::above;
using naive::Arrays;
using naive::Extents;
using naive::Number;

using OfOne = std::function<Number(Number)>;
using Fitting = std::optional<std::vector<Extents>>;

Fitting alone(const Extents&, Choices&, Numbers&) { return std::vector<Extents>{}; }

ProgramOp unary(std::string_view name, Tensor (*run)(const Tensor&), OfOne f) {
  return {name, alone, [run](const Tensors& in, const Numbers&) { return Tensors{run(in[0])}; },
          [f](const Arrays& in, const Numbers&) {
            return Arrays{naive::fill(in[0].shape, [&](const Extents& index) { return f(in[0][index]); })};
          }};
}

/// A shape that broadcasts with x: the same, with axes of length 1, without leading axes, or with one more.
Fitting another(const Extents& x, Choices& choices, Numbers&) {
  Extents shape = x;
  for (std::int64_t& extent : shape)
    if (choices.below(4) == 0) extent = 1;
  const std::int64_t rank = choices.below(8);
  if (rank == 0 && !shape.empty()) shape.erase(shape.begin());
  if (rank == 1 && shape.size() < 4) shape.insert(shape.begin(), 2);
  return std::vector<Extents>{shape};
}

ProgramOp binary(std::string_view name, Tensor (*run)(const Tensor&, const Tensor&),
                 std::function<Number(Number, Number)> f) {
  return {name, another, [run](const Tensors& in, const Numbers&) { return Tensors{run(in[0], in[1])}; },
          [f](const Arrays& in, const Numbers&) {
            return Arrays{naive::fill(naive::broadcast(in[0].shape, in[1].shape),
                                      [&](const Extents& index) { return f(in[0][index], in[1][index]); })};
          }};
}

Number softplus_of(Number x) { return naive::log(Number(1) + naive::exp(x)); }
Number elu_of(Number x, double alpha) { return above(x, 0) ? x : Number(alpha) * (naive::exp(x) - 1); }
/// A function that is constant between its steps; `step` is the position of x among them.
Number stepped(double value, double step) {
  naive::require(std::abs(step - std::round(step)) > 1e-3);
  return value;
}

/// 0 or 1 at each element.
std::int64_t mask_bit(std::size_t k) { return k * 2654435761U >> 7 & 1; }
Tensor mask_of(const Shape& shape) {
  std::vector<std::int64_t> bits;
  for (std::int64_t k = 0; k < shape.numel(); ++k) bits.push_back(mask_bit(static_cast<std::size_t>(k)));
  return indices(bits, shape);
}
naive::Array mask_of(const Extents& shape) {
  std::size_t k = 0;
  return naive::fill(shape, [&](const Extents&) { return Number(static_cast<double>(mask_bit(k++))); });
}

constexpr double selu_scale = 1.0507009873554804934193349852946, selu_alpha = 1.6732632423543772848170429916717;

}  // namespace

std::vector<ProgramOp> elementwise_program_ops() {
  const double root = std::sqrt(2 / M_PI);
  return {
      unary(
          "identity", [](const Tensor& x) { return identity(x); }, [](Number x) { return x; }),
      unary("neg", neg, [](Number x) { return Number(0) - x; }),
      unary(
          "scale", [](const Tensor& x) { return scale(x, -1.5); }, [](Number x) { return x * -1.5; }),
      unary(
          "shift", [](const Tensor& x) { return shift(x, 0.75); }, [](Number x) { return x + 0.75; }),
      unary(
          "pow", [](const Tensor& x) { return pow(x, 3); }, [](Number x) { return x * x * x; }),
      unary("exp", exp, [](Number x) { return naive::exp(x); }),
      unary("log", log, [](Number x) { return naive::require(x.value > 0.1), naive::log(x); }),
      unary("sqrt", sqrt, [](Number x) { return naive::require(x.value > 0.1), naive::sqrt(x); }),
      unary("square", square, [](Number x) { return x * x; }),
      unary("abs", abs, [](Number x) { return above(x, 0) ? x : Number(0) - x; }),
      unary("reciprocal", reciprocal, [](Number x) { return naive::require(std::abs(x.value) > 0.2), Number(1) / x; }),
      unary("sin", sin, [](Number x) { return chain(x, std::sin(x.value), std::cos(x.value)); }),
      unary("cos", cos, [](Number x) { return chain(x, std::cos(x.value), -std::sin(x.value)); }),
      unary("erf", erf, [](Number x) { return naive::erf(x); }),
      unary("log1p", log1p, [](Number x) { return naive::require(x.value > -0.9), naive::log(Number(1) + x); }),
      unary("expm1", expm1, [](Number x) { return naive::exp(x) - 1; }),
      unary("sign", sign, [](Number x) { return Number(above(x, 0) ? 1 : -1); }),
      unary("floor", floor, [](Number x) { return stepped(std::floor(x.value), x.value); }),
      unary("ceil", ceil, [](Number x) { return stepped(std::ceil(x.value), x.value); }),
      unary("round", round, [](Number x) { return stepped(std::nearbyint(x.value), x.value - 0.5); }),
      unary(
          "clip", [](const Tensor& x) { return clip(x, -0.8, 1.1); },
          [](Number x) { return above(x, 1.1)    ? Number(1.1)
                                : above(x, -0.8) ? x
                                                 : Number(-0.8); }),
      unary("sigmoid", sigmoid, [](Number x) { return naive::sigmoid(x); }),
      unary("tanh", tanh, [](Number x) { return naive::tanh(x); }),
      unary("relu", relu, [](Number x) { return above(x, 0) ? x : Number(0); }),
      unary(
          "leaky_relu", [](const Tensor& x) { return leaky_relu(x, 0.25); },
          [](Number x) { return above(x, 0) ? x : x * 0.25; }),
      unary(
          "elu", [](const Tensor& x) { return elu(x, 0.5); }, [](Number x) { return elu_of(x, 0.5); }),
      unary("selu", selu, [](Number x) { return elu_of(x, selu_alpha) * selu_scale; }),
      unary("gelu", gelu, [](Number x) { return x / 2 * (Number(1) + naive::erf(x / std::sqrt(2.0))); }),
      unary("gelu_tanh", gelu_tanh,
            [root](Number x) { return x / 2 * (Number(1) + naive::tanh((x + x * x * x * 0.044715) * root)); }),
      unary("silu", silu, [](Number x) { return x * naive::sigmoid(x); }),
      unary("mish", mish, [](Number x) { return x * naive::tanh(softplus_of(x)); }),
      unary("softplus", softplus, [](Number x) { return softplus_of(x); }),
      unary("log_sigmoid", log_sigmoid, [](Number x) { return naive::log(naive::sigmoid(x)); }),
      unary(
          "custom_op",
          [](const Tensor& x) {
            return custom_op(
                "x cos x", {x}, [](const Tensors& in) { return in[0] * cos(in[0]); },
                [](const Tensor& dy, const Tensors& in, const Tensor&) {
                  return Tensors{dy * (cos(in[0]) - in[0] * sin(in[0]))};
                });
          },
          [](Number x) { return x * chain(x, std::cos(x.value), -std::sin(x.value)); }),
      unary(
          "on_gradient", [](const Tensor& x) { return on_gradient(x, [](const Tensor& dy) { return dy * 3; }); },
          [](Number x) { return Number(x.value, 3 * x.slope); }),
      {"masked_fill", alone,
       [](const Tensors& in, const Numbers&) { return Tensors{masked_fill(in[0], mask_of(in[0].shape()), 0.5)}; },
       [](const Arrays& in, const Numbers&) {
         const naive::Array mask = mask_of(in[0].shape);
         return Arrays{naive::fill(
             in[0].shape, [&](const Extents& index) { return mask[index].value != 0 ? Number(0.5) : in[0][index]; })};
       }},
      binary("add", add, [](Number a, Number b) { return a + b; }),
      binary("sub", sub, [](Number a, Number b) { return a - b; }),
      binary("mul", mul, [](Number a, Number b) { return a * b; }),
      binary("div", div, [](Number a, Number b) { return naive::require(std::abs(b.value) > 0.2), a / b; }),
      binary("maximum", maximum, [](Number a, Number b) { return above(a, b) ? a : b; }),
      binary("minimum", minimum, [](Number a, Number b) { return above(a, b) ? b : a; }),
      binary("pow of tensors", pow,
             [](Number a, Number b) { return naive::require(a.value > 0.1), naive::exp(b * naive::log(a)); }),
      {"where", another,
       [](const Tensors& in, const Numbers&) { return Tensors{where(mask_of(in[0].shape()), in[0], in[1])}; },
       [](const Arrays& in, const Numbers&) {
         const naive::Array mask = mask_of(in[0].shape);
         return Arrays{naive::fill(naive::broadcast(in[0].shape, in[1].shape), [&](const Extents& index) {
           return mask[index].value != 0 ? in[0][index] : in[1][index];
         })};
       }},
      {"swiglu",
       [](const Extents& x, Choices&, Numbers&) -> Fitting {
         if (x.empty() || x.back() % 2 != 0) return std::nullopt;
         return std::vector<Extents>{};
       },
       [](const Tensors& in, const Numbers&) { return Tensors{swiglu(in[0])}; },
       [](const Arrays& in, const Numbers&) {
         const std::size_t last = in[0].shape.size() - 1;
         const std::int64_t half = in[0].shape.back() / 2;
         return Arrays{naive::fill(naive::with(in[0].shape, last, half), [&](const Extents& index) {
           const Number a = in[0][index];
           return a * naive::sigmoid(a) * in[0][naive::with(index, last, index.back() + half)];
         })};
       }},
  };
}

}  // namespace retrace

// Arithmetic and activations.
#pragma once

#include <retrace/ops/checks/op_row.h>

namespace retrace::op_checks {

/// One tensor as both operands is a tie everywhere.
inline Cases extremes(BinaryOp op) {
  Cases cases = binary(op);
  cases.back() = differentiable_once(std::move(cases.back()));
  return cases;
}

/// To a number, to a tensor, and of zeros.
inline Cases powers() {
  const BinaryOp power = pow;
  Cases cases{one([](auto& x) { return pow(x, 2.5); }, {positive({3, 4})}),
              one([](auto& x) { return pow(x, 3.0); }, {normal({4})}),
              one(power, {tensor({{0.0, 0.0, 1.5}, {0.0, 2.0, 0.0}}, f64), tensor({4.0, 2.0, 3.0}, f64)}),
              differentiable_once(one(power, {tensor({0.0, 0.5}, f64), tensor({1.0, 1.0}, f64)}))};
  for (CheckCase& of_tensors : binary(pow, positive)) cases.push_back(std::move(of_tensors));
  return cases;
}

/// Divides a tensor by a tensor, a tensor by a number, and a number by a tensor.
inline Cases divisions() {
  Cases cases = binary(div, positive);
  const Tensor x = linspace(-2, 1.5, 7, f64);
  cases.push_back(one([](auto& of) { return div(of, -0.7); }, {x}));
  cases.push_back(one([](auto& by) { return div(-0.7, by); }, {x}));
  return cases;
}

/// One tensor as both operands is a step everywhere.
inline Cases remainders() {
  Cases cases = binary(remainder, positive);
  cases.back() = one(remainder, {tensor({7.5, -7.5, 7.5, -7.5, 0.3}, f64), tensor({2.0, 2.0, -2.0, -2.0, -4.0}, f64)});
  return cases;
}

/// Also where a = 0, where y is 0 for any b.
inline Cases products_with_logs() {
  Cases cases = binary(xlogy, positive);
  cases.push_back(one(xlogy, {tensor({0.0, 0.0, -1.5}, f64), tensor({2.0, 0.5, 0.3}, f64)}));
  return cases;
}

inline Tensor inside_one(const Shape& shape) { return numbers().uniform(shape, -0.9, 0.9, f64); }
inline Tensor probabilities(const Shape& shape) { return numbers().uniform(shape, 0.1, 0.9, f64); }

/// Also between the poles.
inline Cases gammas() {
  Cases cases = unary(lgamma, {.draw = positive});
  cases.push_back(one(lgamma, {tensor({-0.5, -1.2, -2.7, -20.4, 0.01, 1e-3, 30.0, 1e6}, f64)}));
  return cases;
}

/// Also clipped.
inline Cases logits() {
  Cases cases = unary([](const Tensor& x) { return logit(x); }, {.draw = probabilities});
  cases.push_back(one([](auto& x) { return logit(x, 0.3); }, {probabilities({3, 4})}, {0.3, 0.7}));
  return cases;
}

/// Steps at `first` and all whole numbers away from it; the 0-d tensor lies between two.
inline Cases steps(UnaryOp op, double first) {
  std::vector<double> kinks;
  for (double kink = first - 8; kink <= 8; ++kink) kinks.push_back(kink);
  return {one(op, {normal({3, 4})}, kinks), one(op, {full({}, 0.3, f64)}, kinks), one(op, {normal({0, 3})}, kinks)};
}

/// Which of two tensors an element comes from is decided by a comparison, which has no gradient itself.
using Comparison = Tensor (*)(const Tensor&, const Tensor&);
inline Cases chosen_by(Comparison compare) {
  const auto choose = [compare](auto& a, auto& b) {
    const Tensor mask = compare(a, b);
    return where(mask, 2.0 * a, b);
  };
  return {one(choose, {normal({3, 4}), normal({4})}), one(choose, {normal({2, 1}), normal({1, 3})})};
}
/// Chooses by a mask made of two others.
inline Cases chosen_by_both(Comparison combine) {
  const auto choose = [combine](auto& a, auto& b) {
    const Tensor mask = combine(less(a, b), greater(a, -0.3));
    return where(mask, 2.0 * a, b);
  };
  return {one(choose, {normal({3, 4}), normal({3, 1})})};
}
inline Tensor chosen_by_none(const Tensor& x) {
  const Tensor mask = logical_not(less(x, 0.2));
  return where(mask, 3.0 * x, x);
}

inline Tensor there_and_back(const Tensor& x) { return x.dtype() == dual ? x : to(to(x, dual), f64); }

// clang-format off
inline constexpr OpChecks elementwise[] = {
    {"identity", [] { return unary(identity); }},
    {"add", [] { return binary(add); }},
    {"sub", [] { return binary(sub); }},
    {"mul", [] { return binary(mul); }},
    {"div", divisions},
    {"remainder", remainders},
    {"neg", [] { return unary(neg); }},
    {"scale", [] { return Cases{one([](auto& x) { return scale(x, -1.7); }, {normal({3, 4})})}; }},
    {"shift", [] { return Cases{one([](auto& x) { return shift(x, 2.5); }, {normal({3, 4})})}; }},
    {"maximum", [] { return extremes(maximum); }},
    {"minimum", [] { return extremes(minimum); }},
    {"pow", powers},
    {"exp", [] { return unary(exp); }},
    {"log", [] { return unary(log, {.draw = positive}); }},
    {"xlogy", products_with_logs},
    {"sqrt", [] { return unary(sqrt, {.draw = positive}); }},
    {"square", [] { return unary(square); }},
    {"abs", [] { return unary(abs, {.kinks = {0}}); }},
    {"reciprocal", [] { return unary(reciprocal, {.draw = positive}); }},
    {"sin", [] { return unary(sin); }},
    {"cos", [] { return unary(cos); }},
    {"asin", [] { return unary(asin, {.draw = inside_one}); }},
    {"acos", [] { return unary(acos, {.draw = inside_one}); }},
    {"atan", [] { return unary(atan); }},
    {"atan2", [] { return binary(atan2); }},
    {"erf", [] { return unary(erf); }},
    {"lgamma", gammas},
    {"log1p", [] { return unary(log1p, {.draw = positive}); }},
    {"expm1", [] { return unary(expm1); }},
    {"logit", logits},
    {"sign", [] { return unary(sign, {.kinks = {0}}); }},
    {"floor", [] { return steps(floor, 0); }},
    {"ceil", [] { return steps(ceil, 0); }},
    {"round", [] { return steps(round, 0.5); }},
    {"clip", [] { return Cases{one([](auto& x) { return clip(x, -0.5, 0.7); }, {normal({3, 8})}, {-0.5, 0.7})}; }},
    {"where", [] { return Cases{
        one([](auto& mask, auto& a, auto& b) { return where(mask, a, b); },
            {indices({1, 0, 1, 0}), normal({3, 4}), normal({3, 1})}),
        one([](auto& mask, auto& a, auto& b) { return where(mask, a, b); },
            {indices({{1}, {0}}), normal({}), normal({2, 1, 3})}),
        one([](auto& mask, auto& x) { return where(mask, x, 0.5) + where(mask, -2.0, x); },
            {indices({1, 0, 1, 0}), normal({3, 1})})}; }},
    {"masked_fill", [] { return Cases{
        one([](auto& mask, auto& x) { return masked_fill(x, mask, 7); }, {indices({1, 0, 0, 1}), normal({3, 4})})}; }},
    {"to", [] { return Cases{one([](auto& x) { return there_and_back(x) * 2.0; }, {normal({3})})}; }},
    {"equal", [] { return chosen_by(equal); }},
    {"not_equal", [] { return chosen_by(not_equal); }},
    {"less", [] { return chosen_by(less); }},
    {"less_equal", [] { return chosen_by(less_equal); }},
    {"greater", [] { return chosen_by(greater); }},
    {"greater_equal", [] { return chosen_by(greater_equal); }},
    {"logical_and", [] { return chosen_by_both(logical_and); }},
    {"logical_or", [] { return chosen_by_both(logical_or); }},
    {"logical_xor", [] { return chosen_by_both(logical_xor); }},
    {"logical_not", [] { return Cases{one(chosen_by_none, {normal({3, 4})})}; }},
    {"sigmoid", [] { return unary(sigmoid); }},
    {"tanh", [] { return unary(tanh); }},
    {"relu", [] { return unary(relu, {.kinks = {0}}); }},
    {"leaky_relu", [] { return Cases{one([](auto& x) { return leaky_relu(x, 0.1); }, {normal({3, 4})}, {0})}; }},
    {"elu", [] { return Cases{one([](auto& x) { return elu(x); }, {normal({3, 4})}, {0}),
                              one([](auto& x) { return elu(x, 0.3); }, {normal({2, 3})}, {0})}; }},
    {"selu", [] { return unary(selu, {.kinks = {0}}); }},
    {"gelu", [] { return unary(gelu); }},
    {"gelu_tanh", [] { return unary(gelu_tanh); }},
    {"silu", [] { return unary(silu); }},
    {"swiglu", [] { return Cases{one(swiglu, {normal({2, 3, 8})}), one(swiglu, {normal({6})}),
                                 one(swiglu, {normal({3, 0})})}; }},
    {"mish", [] { return unary(mish); }},
    {"softplus", [] { return unary(softplus); }},
    {"log_sigmoid", [] { return unary(log_sigmoid); }},
};
// clang-format on

}  // namespace retrace::op_checks

// Arithmetic and activations.
#pragma once

#include <retrace/ops/checks/op_row.h>

namespace retrace::op_checks {

/// Numbers on both sides of others, and none equal to another.
inline Cases extremes(BinaryOp op) {
  const Tensor a = arange(0, 12, 1, f64), b = full({12}, 5.5, f64);
  return {one(op, {a, b}), one(op, {reshape(a, {3, 4}), tensor({2.5, 7.5, 3.5, 20.0}, f64)})};
}

inline constexpr BinaryOp power = pow;

inline Tensor there_and_back(const Tensor& x) { return x.dtype() == dual ? x : to(to(x, dual), f64); }

// clang-format off
inline constexpr OpChecks elementwise[] = {
    {"identity", [] { return unary(identity); }},
    {"add", [] { return binary(add); }},
    {"sub", [] { return binary(sub); }},
    {"mul", [] { return binary(mul); }},
    {"div", [] { return binary(div, positive); }},
    {"neg", [] { return unary(neg); }},
    {"scale", [] { return Cases{one([](auto& x) { return scale(x, -1.7); }, {normal({3, 4})})}; }},
    {"shift", [] { return Cases{one([](auto& x) { return shift(x, 2.5); }, {normal({3, 4})})}; }},
    {"maximum", [] { return extremes(maximum); }},
    {"minimum", [] { return extremes(minimum); }},
    {"pow", [] { return Cases{
        one([](auto& x) { return pow(x, 2.5); }, {positive({3, 4})}),
        one([](auto& x) { return pow(x, 3.0); }, {normal({4})}),
        one(power, {positive({3, 4}), normal({4})}),
        one(power, {tensor({{0.0, 0.0, 1.5}, {0.0, 2.0, 0.0}}, f64), tensor({1.0, 2.0, 3.0}, f64)})}; }},
    {"exp", [] { return unary(exp); }},
    {"log", [] { return unary(log, {.draw = positive}); }},
    {"sqrt", [] { return unary(sqrt, {.draw = positive}); }},
    {"square", [] { return unary(square); }},
    {"abs", [] { return unary(abs, {.kinks = {0}}); }},
    {"reciprocal", [] { return unary(reciprocal, {.draw = positive}); }},
    {"sin", [] { return unary(sin); }},
    {"cos", [] { return unary(cos); }},
    {"clip", [] { return Cases{one([](auto& x) { return clip(x, -0.5, 0.7); }, {normal({3, 8})}, {-0.5, 0.7})}; }},
    {"where", [] { return Cases{one(where, {indices({1, 0, 1, 0}), normal({3, 4}), normal({3, 1})})}; }},
    {"masked_fill", [] { return Cases{
        one([](auto& mask, auto& x) { return masked_fill(x, mask, 7); }, {indices({1, 0, 0, 1}), normal({3, 4})})}; }},
    {"to", [] { return Cases{one([](auto& x) { return there_and_back(x) * 2.0; }, {normal({3})})}; }},
    {"sigmoid", [] { return unary(sigmoid); }},
    {"tanh", [] { return unary(tanh); }},
    {"relu", [] { return unary(relu, {.kinks = {0}}); }},
    {"leaky_relu", [] { return Cases{one([](auto& x) { return leaky_relu(x, 0.1); }, {normal({3, 4})}, {0})}; }},
    {"elu", [] { return Cases{one([](auto& x) { return elu(x); }, {normal({3, 4})}),
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

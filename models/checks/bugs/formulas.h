// Wrong terms, factors and signs, and the value of another tensor.
#pragma once

#include <cmath>

#include <retrace/models/checks/bugs/bug_card.h>

namespace retrace::bugs {

inline CheckCase half_of_it(bool bug) {
  return of(
      {normal({3}), positive({3})}, [](auto& in) { return in[0] / in[1]; },
      [=](auto& dy, auto& in, auto& y) {
        const double factor = bug ? 0.5 : 1;
        return Tensors{factor * dy / in[1], -factor * dy * y / in[1]};
      });
}

/// s' = s + b (v - s k) k^T, a step of a delta rule without a gate: s [2, 3], k [3], v [2], b [].
inline CheckCase branch_without_gate(bool bug) {
  return of(
      {normal({2, 3}), normal({3}), normal({2}), normal({})},
      [](auto& in) { return in[0] + in[3] * outer(in[2] - matmul(in[0], in[1]), in[1]); },
      [=](auto& dy, auto& in, auto&) {
        const Tensor &s = in[0], &k = in[1], &b = in[3];
        const Tensor error = in[2] - matmul(s, k), dv = b * matmul(dy, k);
        const Tensor dk = b * matmul(error, dy) - matmul(dv, s);
        const Tensor db = sum(dy * outer(bug ? in[2] : error, k));
        return Tensors{dy - outer(dv, k), bug ? b * matmul(error, dy) : dk, dv, db};
      });
}

/// y = (n sigmoid(g)) w, n normalised.
inline CheckCase value_before_gate(bool bug) {
  return of({normal({3, 4}), normal({3, 4}), normal({4, 2})}, [=](const Tensors& in) {
    const auto forward = [](const Tensors& x) { return matmul(x[0] * sigmoid(x[1]), x[2]); };
    return Tensors{custom_op("replay", {layer_norm(in[0]), in[1], in[2]}, forward, [=](auto& dy, auto& x, auto&) {
      const Tensor gate = sigmoid(x[1]), gated = x[0] * gate, from = matmul(dy, x[2], {.transpose_b = true});
      return Tensors{from * gate, from * gated * (1 - gate), matmul(bug ? x[0] : gated, dy, {.transpose_a = true})};
    })};
  });
}

/// y = x e^w, w = -e^u.
inline CheckCase inner_derivative(bool bug) {
  return of(
      {normal({3}), normal({3})}, [](auto& in) { return in[0] * exp(-exp(in[1])); },
      [=](auto& dy, auto& in, auto& y) {
        const Tensor w = -exp(in[1]);
        return Tensors{dy * exp(w), bug ? dy * y : dy * y * w};
      });
}

inline CheckCase sign_in_one_branch(bool bug) {
  return of(
      {tensor({-3.0, -0.4, 0.2, 2.0}, f64)},
      [](auto& in) { return smooth_l1(in[0], zeros_like(in[0]), 1, Reduction::none); },
      [=](auto& dy, auto& in, auto&) {
        return Tensors{dy * where(less(abs(in[0]), 1.0), (bug ? -1.0 : 1.0) * in[0], sign(in[0]))};
      });
}

inline CheckCase gradient_of_one(bool bug) {
  return of(
      {normal({3})}, [](auto& in) { return sin(in[0]); },
      [=](auto& dy, auto& in, auto&) { return Tensors{bug ? dy : dy * cos(in[0])}; });
}

inline CheckCase input_of_exp(bool bug) {
  return of(
      {normal({3})}, [](auto& in) { return exp(in[0]); },
      [=](auto& dy, auto& in, auto& y) { return Tensors{dy * (bug ? in[0] : y)}; });
}

/// The gradient of a gate, with 8 bits after the point.
inline CheckCase few_bits(bool bug) {
  return of(
      {normal({3, 3}), normal({3, 3})}, [](auto& in) { return in[0] * exp(cumsum(in[1])); },
      [=](auto& dy, auto& in, auto& y) {
        const Tensor through = flip(cumsum(flip(dy * y, 1)), 1);
        return Tensors{dy * exp(cumsum(in[1])), bug ? round(through * 256.0) / 256.0 : through};
      });
}

inline constexpr BugCard formulas[] = {
    {"mlx#2451", "arctan2: half the gradient (here of a / b)", BugClass::formula, half_of_it},
    {"flash-linear-attention#862, PR#863", "delta rule without a gate: dk and db lack a term", BugClass::formula,
     branch_without_gate},
    {"flash-linear-attention PR#1071", "gated norm and linear: the value before the gate", BugClass::formula,
     value_before_gate},
    {"flash-linear-attention PR#360 (w)", "w = -e^u: no derivative of it", BugClass::formula, inner_derivative},
    {"stan-dev/math#3322", "two branches: the sign in one of them (here of smooth_l1)", BugClass::formula,
     sign_in_one_branch},
    {"scirs#103", "an op that is not known: a gradient of 1", BugClass::formula, gradient_of_one},
    {"InfiniTrain PR#214 (Exp)", "exp: x for y", BugClass::formula, input_of_exp},
    {"QwenLM/FlashQLA#28", "gate: its gradient passes through a type of few bits", BugClass::formula, few_bits},
};

}  // namespace retrace::bugs

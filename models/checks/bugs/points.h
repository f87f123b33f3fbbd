// Points at which formulas fail: ties, zeros, and gradients that are not uniform.
#pragma once

#include <retrace/models/checks/bugs/bug_card.h>

namespace retrace::bugs {

/// The library's op, or with `bug` one of its values and this backward.
template <class F, class B> CheckCase replaced(bool bug, const Tensors& inputs, F forward, B wrong) {
  if (bug) return of(inputs, forward, wrong);
  return of(inputs, [=](const Tensors& in) { return Tensors{forward(in)}; });
}
inline CheckCase at_a_kink(CheckCase one) {
  one.derivatives = 1;
  return one;
}

// ---- ties and zeros

inline CheckCase tied_maximum(bool bug) {
  return at_a_kink(replaced(
      bug, {tensor({{2.0, 1.0, 2.0}, {0.5, 3.0, 1.0}}, f64)},
      [](auto& in) { return max(in[0], -1, {.keepdims = true}); },
      [](auto& dy, auto& in, auto& y) {
        const Tensor largest = equal(in[0], y).to(dy.dtype()), count = sum_last(largest);
        return Tensors{dy * largest * equal(count, 1.0).to(dy.dtype())};
      }));
}

inline Tensor one_zero() { return tensor({{2.0, 0.0, 3.0}, {1.5, 2.0, 0.5}}, f64); }
inline CheckCase product_of_a_zero(bool bug) {
  return replaced(
      bug, {one_zero()}, [](auto& in) { return prod(in[0], -1, {.keepdims = true}); },
      [](auto& dy, auto& in, auto& y) { return Tensors{dy * y / in[0]}; });
}
inline CheckCase running_product_of_a_zero(bool bug) {
  return replaced(
      bug, {one_zero()}, [](auto& in) { return cumprod(in[0]); },
      [](auto& dy, auto& in, auto& y) { return Tensors{flip(cumsum(flip(dy * y, 1)), 1) / in[0]}; });
}

inline CheckCase equal_logs(bool bug) {
  return replaced(
      bug, {tensor({1.0, 0.3}, f64), tensor({1.0, 0.7}, f64)},
      [](auto& in) {
        return logsumexp(stack({in[0], in[1]}), 0);
      },
      [](auto& dy, auto& in, auto&) {
        const Tensor tie = equal(in[0], in[1]);
        return Tensors{where(tie, dy, dy * sigmoid(in[0] - in[1])), where(tie, 0.0, dy * sigmoid(in[1] - in[0]))};
      });
}

/// y = x sqrt(x).
inline CheckCase root_of_zero(bool bug) {
  return at_a_kink(replaced(
      bug, {tensor({0.0, 1.0, 2.0}, f64)}, [](auto& in) { return pow(in[0], 1.5); },
      [](auto& dy, auto& in, auto&) {
        const Tensor root = sqrt(in[0]);
        return Tensors{dy * (root + in[0] / (2.0 * root))};
      }));
}

inline constexpr BugCard ties_and_zeros[] = {
    {"tinygrad#12296", "max: nothing goes back to ties, whose count overflows", BugClass::ties_and_zeros, tied_maximum},
    {"tinygrad PR#17404, burn#5533, tt-metal#54551", "prod: y / x, NaN at a zero", BugClass::ties_and_zeros,
     product_of_a_zero},
    {"pymc-devs/pytensor#1911", "cumprod: divides by x", BugClass::ties_and_zeros, running_product_of_a_zero},
    {"Enzyme#2393", "log(e^a + e^b): (1, 0) for a = b", BugClass::ties_and_zeros, equal_logs},
    {"stanli#144", "sqrt: NaN at 0, which one point did not show", BugClass::ties_and_zeros, root_of_zero},
};

// ---- gradients that arrive

inline CheckCase scalar_cotangent(bool bug) {
  return replaced(
      bug, {normal({3, 4})},
      [](auto& in) {
        return cross_entropy(in[0], indices({1, 0, 3}), {.reduction = Reduction::none});
      },
      [](auto& dy, auto& in, auto&) {
        return Tensors{dy[0] * (softmax(in[0]) - one_hot(indices({1, 0, 3}), 4, in[0].dtype()))};
      });
}

inline CheckCase softmax_sign(bool bug) {
  return replaced(
      bug, {normal({3, 4})}, [](auto& in) { return softmax(in[0]); },
      [](auto& dy, auto&, auto& y) { return Tensors{y * (dy + sum_last(dy * y))}; });
}
inline CheckCase softmax_term(bool bug) {
  return replaced(
      bug, {normal({3, 4})}, [](auto& in) { return softmax(in[0]); },
      [](auto& dy, auto&, auto& y) { return Tensors{y * dy}; });
}

inline CheckCase divided_cotangent(bool bug) {
  return replaced(
      bug, {normal({2, 3}), normal({2, 3})}, [](auto& in) { return mse(in[0], in[1]); },
      [](auto& dy, auto& in, auto&) {
        const Tensor dx = (in[0] - in[1]) / 3.0 / dy;
        return Tensors{dx, -dx};
      });
}

inline CheckCase sum_of_labels(bool bug) {
  const Tensor labels = tensor({{0.5, 0.2, 0.1}, {1.0, 0.0, 0.4}}, f64);
  return replaced(
      bug, {normal({2, 3})}, [=](auto& in) { return -sum(like(in[0], labels) * log_softmax(in[0]), -1); },
      [=](auto& dy, auto& in, auto&) { return Tensors{unsqueeze(dy, -1) * (softmax(in[0]) - like(in[0], labels))}; });
}

inline CheckCase input_for_output(bool bug) {
  return replaced(
      bug, {normal({3, 4})}, [](auto& in) { return log_softmax(in[0]); },
      [](auto& dy, auto& in, auto&) { return Tensors{dy - exp(in[0]) * sum_last(dy)}; });
}

inline constexpr BugCard cotangents[] = {
    {"Liger-Kernel#968, #678, PR#680", "cross entropy, reduction none: takes dy for one number", BugClass::cotangent,
     scalar_cotangent},
    {"harvard-edge/cs249r_book#2053", "softmax: + for -", BugClass::cotangent, softmax_sign},
    {"harvard-edge/cs249r_book#2056", "mse: divides by dy", BugClass::cotangent, divided_cotangent},
    {"HomericIntelligence/Odyssey#2134", "softmax: lacks the sum", BugClass::formula, softmax_term},
    {"kvark/meganeura#102", "cross entropy: assumes labels that add up to 1", BugClass::formula, sum_of_labels},
    {"mlpack#3470, PR#2364", "log-softmax: x for y, which the checker mistook, too", BugClass::formula,
     input_for_output},
};

}  // namespace retrace::bugs

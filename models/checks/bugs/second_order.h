// Right gradients whose own derivatives are wrong: tangents of dual numbers that a backward drops or turns.
#pragma once

#include <retrace/models/checks/bugs/bug_card.h>

namespace retrace::bugs {

inline Tensor with_tangents_times(double factor, const Tensor& x) {
  if (x.dtype() != dual) return x;
  const Tensor result = x.clone();
  for (Dual& element : result.mutable_values<Dual>()) element.tangent *= factor;
  return result;
}
inline Tensor constant(const Tensor& x, bool bug) { return with_tangents_times(bug ? 0 : 1, x); }

/// Normalises along an axis; with the bug, tangents of mean and 1 / deviation are multiplied by `factor`.
inline CheckCase normalised(int axis, bool bug, double factor) {
  const auto mean_of = [=](const Tensor& x) { return mean(x, axis, {.keepdims = true}); };
  const auto deviation = [=](const Tensor& x) { return sqrt(mean_of(square(x - mean_of(x))) + 1e-5); };
  return of(
      {normal({3, 4})}, [=](auto& in) { return (in[0] - mean_of(in[0])) / deviation(in[0]); },
      [=](auto& dy, auto& in, auto&) {
        const auto seen = [=](const Tensor& x) { return with_tangents_times(bug ? factor : 1, x); };
        const Tensor root = seen(deviation(in[0])), y = (in[0] - seen(mean_of(in[0]))) / root;
        return Tensors{(dy - mean_of(dy) - y * mean_of(dy * y)) / root};
      });
}
inline CheckCase turned_tangent(bool bug) { return normalised(-1, bug, -1); }
inline CheckCase constants_of_a_row(bool bug) { return normalised(-1, bug, 0); }
inline CheckCase constants_of_a_batch(bool bug) { return normalised(0, bug, 0); }

inline CheckCase kept_value(bool bug) {
  return of(
      {normal({4})}, [](auto& in) { return sigmoid(in[0]); },
      [=](auto& dy, auto&, auto& y) {
        const Tensor kept = constant(y, bug);
        return Tensors{dy * kept * (1 - kept)};
      });
}

inline CheckCase constant_cotangent(bool bug) {
  return of({normal({3})}, [=](const Tensors& in) {
    const auto backward = [=](auto& dy, auto& x, auto&) { return Tensors{constant(dy, bug) * cos(x[0])}; };
    return Tensors{square(custom_op(
        "replay", in, [](auto& x) { return sin(x[0]); }, backward))};
  });
}

inline CheckCase placeholder(bool bug) {
  return of({normal({2, 4}), normal({4}), normal({4})}, [=](const Tensors& in) {
    const auto forward = [](const Tensors& x) { return x[0] * x[1] + x[2]; };
    return Tensors{custom_op("replay", {tanh(in[0]), in[1], in[2]}, forward, [=](auto& dy, auto& x, auto&) {
      return Tensors{dy * x[1], sum(dy * constant(x[0], bug), 0), sum(dy, 0)};
    })};
  });
}

inline constexpr BugCard second_order[] = {
    {"pytorch#196700", "layer norm: the tangent of mean and 1 / deviation has the wrong sign", BugClass::second_order,
     turned_tangent},
    {"pytorch#175754", "layer norm: mean and 1 / deviation are constants", BugClass::second_order, constants_of_a_row},
    {"pytorch#186256", "batch norm: mean and 1 / deviation are constants", BugClass::second_order,
     constants_of_a_batch},
    {"pytorch#76185, #104040, #58509", "a function of one's own keeps a value that is constant to its backward",
     BugClass::second_order, kept_value},
    {"Enzyme.jl#3346", "forward over backward: the cotangent is a constant", BugClass::second_order,
     constant_cotangent},
    {"mlx#3220", "affine norm: the backward of its scale gets a placeholder", BugClass::second_order, placeholder},
};

}  // namespace retrace::bugs

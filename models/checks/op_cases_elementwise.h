// Arithmetic and activations.
#pragma once

#include <retrace/models/checks/op_case.h>

namespace retrace::op_checks {

// ---- arithmetic

template <> inline Cases cases_of<Op::identity>() { return unary(identity); }
template <> inline Cases cases_of<Op::add>() { return binary(add); }
template <> inline Cases cases_of<Op::sub>() { return binary(sub); }
template <> inline Cases cases_of<Op::mul>() { return binary(mul); }
template <> inline Cases cases_of<Op::div>() { return binary(div, positive); }
template <> inline Cases cases_of<Op::neg>() { return unary(neg); }
template <> inline Cases cases_of<Op::scale>() {
  return {one([](const Tensors& in) { return scale(in[0], -1.7); }, {normal({3, 4})})};
}
template <> inline Cases cases_of<Op::shift>() {
  return {one([](const Tensors& in) { return shift(in[0], 2.5); }, {normal({3, 4})})};
}
inline Cases extremes(BinaryOp op) {
  const Tensor a = arange(0, 12, 1, f64), b = full({12}, 5.5, f64);
  return {one([op](const Tensors& in) { return op(in[0], in[1]); }, {a, b}),
          one([op](const Tensors& in) { return op(in[0], in[1]); },
              {reshape(a, {3, 4}), tensor({2.5, 7.5, 3.5, 20.0}, f64)})};
}
template <> inline Cases cases_of<Op::maximum>() { return extremes(maximum); }
template <> inline Cases cases_of<Op::minimum>() { return extremes(minimum); }
template <> inline Cases cases_of<Op::pow>() {
  return {one([](const Tensors& in) { return pow(in[0], 2.5); }, {positive({3, 4})}),
          one([](const Tensors& in) { return pow(in[0], 3.0); }, {normal({4})}),
          one([](const Tensors& in) { return pow(in[0], in[1]); }, {positive({3, 4}), normal({4})}),
          one([](const Tensors& in) { return pow(in[0], in[1]); },
              {tensor({{0.0, 0.0, 1.5}, {0.0, 2.0, 0.0}}, f64), tensor({1.0, 2.0, 3.0}, f64)})};
}
template <> inline Cases cases_of<Op::exp>() { return unary(exp); }
template <> inline Cases cases_of<Op::log>() { return unary_positive(log); }
template <> inline Cases cases_of<Op::sqrt>() { return unary_positive(sqrt); }
template <> inline Cases cases_of<Op::square>() { return unary(square); }
template <> inline Cases cases_of<Op::abs>() { return unary(abs, {0}); }
template <> inline Cases cases_of<Op::reciprocal>() { return unary_positive(reciprocal); }
template <> inline Cases cases_of<Op::sin>() { return unary(sin); }
template <> inline Cases cases_of<Op::cos>() { return unary(cos); }
template <> inline Cases cases_of<Op::clip>() {
  return {one([](const Tensors& in) { return clip(in[0], -0.5, 0.7); }, {normal({3, 8})}, {-0.5, 0.7})};
}
template <> inline Cases cases_of<Op::where>() {
  return {one([](const Tensors& in) { return where(in[0], in[1], in[2]); },
              {indices({1, 0, 1, 0}), normal({3, 4}), normal({3, 1})})};
}
template <> inline Cases cases_of<Op::masked_fill>() {
  return {
      one([](const Tensors& in) { return masked_fill(in[1], in[0], 7.0); }, {indices({1, 0, 0, 1}), normal({3, 4})})};
}
template <> inline Cases cases_of<Op::to>() {
  return {one([](const Tensors& in) { return in[0].dtype() == dual ? in[0] * 2.0 : to(to(in[0], dual), f64) * 2.0; },
              {normal({3})})};
}

// ---- activations

template <> inline Cases cases_of<Op::sigmoid>() { return unary(sigmoid); }
template <> inline Cases cases_of<Op::tanh>() { return unary(tanh); }
template <> inline Cases cases_of<Op::relu>() { return unary(relu, {0}); }
template <> inline Cases cases_of<Op::leaky_relu>() {
  return {one([](const Tensors& in) { return leaky_relu(in[0], 0.1); }, {normal({3, 4})}, {0})};
}
template <> inline Cases cases_of<Op::gelu>() { return unary(gelu); }
template <> inline Cases cases_of<Op::gelu_tanh>() { return unary(gelu_tanh); }
template <> inline Cases cases_of<Op::silu>() { return unary(silu); }
template <> inline Cases cases_of<Op::softplus>() { return unary(softplus); }
template <> inline Cases cases_of<Op::log_sigmoid>() { return unary(log_sigmoid); }

}  // namespace retrace::op_checks

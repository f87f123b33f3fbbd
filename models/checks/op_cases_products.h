// Products, reductions, softmax and normalisation.
#pragma once

#include <retrace/models/checks/op_case.h>

namespace retrace::op_checks {

// ---- products

inline CheckCase product(const Shape& a, const Shape& b, MatmulOptions options = {}) {
  return one([options](const Tensors& in) { return matmul(in[0], in[1], options); }, {normal(a), normal(b)});
}
template <> inline Cases cases_of<Op::matmul>() {
  return {product({3, 4}, {4, 5}),
          product({5}, {5}),
          product({3, 4}, {4}),
          product({3}, {3, 4}),
          product({2, 3, 4}, {2, 4, 5}),
          product({2, 3, 4}, {4, 5}),
          product({3, 4}, {2, 4, 5}),
          product({2, 1, 3, 4}, {5, 4, 2}),
          product({2, 3, 4}, {4}),
          product({4}, {2, 4, 3}),
          product({3, 0}, {0, 2}),
          product({0, 3}, {3, 2}),
          product({4, 3}, {5, 4}, {.transpose_a = true, .transpose_b = true}),
          product({2, 4, 3}, {4, 5}, {.transpose_a = true}),
          product({2, 3, 4}, {5, 4}, {.transpose_b = true}),
          product({3, 2, 3, 4}, {2, 5, 4}, {.transpose_b = true}),
          one([](const Tensors& in) { return matmul(in[0], in[0], {.transpose_b = true}); }, {normal({4, 3})})};
}
template <> inline Cases cases_of<Op::linear>() {
  const auto with_bias = [](const Tensors& in) { return linear(in[0], in[1], in[2]); };
  const auto activated = [](Activation f) {
    return one([f](const Tensors& in) { return linear(in[0], in[1], in[2], f); },
               {normal({4, 3}), normal({6, 3}), normal({6})});
  };
  return {one(with_bias, {normal({4, 3}), normal({6, 3}), normal({6})}),
          one(with_bias, {normal({2, 5, 3}), normal({6, 3}), normal({6})}),
          one(with_bias, {normal({0, 3}), normal({6, 3}), normal({6})}),
          one([](const Tensors& in) { return linear(in[0], in[1]); }, {normal({3}), normal({6, 3})}),
          activated(Activation::relu),
          activated(Activation::tanh),
          activated(Activation::sigmoid),
          activated(Activation::gelu),
          activated(Activation::gelu_tanh)};
}
template <> inline Cases cases_of<Op::outer>() {
  return {one([](const Tensors& in) { return outer(in[0], in[1]); }, {normal({3}), normal({4})})};
}

// ---- reductions

template <> inline Cases cases_of<Op::sum>() { return reductions(sum); }
template <> inline Cases cases_of<Op::mean>() { return reductions(mean); }
template <> inline Cases cases_of<Op::max>() { return reductions(max, false); }
template <> inline Cases cases_of<Op::min>() { return reductions(min, false); }
template <> inline Cases cases_of<Op::var>() { return reductions(var); }
template <> inline Cases cases_of<Op::prod>() {
  Cases cases = reductions(prod);
  cases.push_back(
      one([](const Tensors& in) { return prod(in[0], 1); }, {tensor({{1.5, 0.0, 2.0}, {0.0, 0.0, 3.0}}, f64)}));
  return cases;
}
template <> inline Cases cases_of<Op::logsumexp>() { return reductions(logsumexp); }
template <> inline Cases cases_of<Op::norm>() {
  return {one([](const Tensors& in) { return norm(in[0], 1); }, {positive({3, 4})})};
}
template <> inline Cases cases_of<Op::cumsum>() {
  return {one([](const Tensors& in) { return cumsum(in[0], 1); }, {normal({2, 3, 4})}),
          one([](const Tensors& in) { return cumsum(in[0]); }, {normal({5})})};
}

// ---- softmax and normalisation

template <> inline Cases cases_of<Op::softmax>() {
  const Tensor mask = tensor({{0.0, -infinity, 0.5}, {-infinity, -infinity, -infinity}}, f64);
  return {one([](const Tensors& in) { return softmax(in[0]); }, {normal({3, 5})}),
          one([](const Tensors& in) { return softmax(in[0], 1); }, {normal({2, 3, 4})}),
          one([](const Tensors& in) { return softmax(in[0], 0); }, {normal({17})}),
          one([mask](const Tensors& in) { return softmax(in[0], -1, to(mask, in[0].dtype())); }, {normal({4, 2, 3})})};
}
template <> inline Cases cases_of<Op::log_softmax>() {
  return {one([](const Tensors& in) { return log_softmax(in[0]); }, {normal({3, 5})}),
          one([](const Tensors& in) { return log_softmax(in[0], 0); }, {normal({3, 2, 4})})};
}
template <> inline Cases cases_of<Op::layer_norm>() {
  return {one([](const Tensors& in) { return layer_norm(in[0], in[1], in[2]); },
              {normal({3, 6}), normal({6}), normal({6})}),
          one([](const Tensors& in) { return layer_norm(in[0], in[1], {}, {.axes = 2}); },
              {normal({2, 3, 4}), normal({3, 4})}),
          one([](const Tensors& in) { return layer_norm(in[0], {}, in[1]); }, {normal({2, 5}), normal({5})}),
          one([](const Tensors& in) { return layer_norm(in[0]); }, {normal({3, 9})})};
}
template <> inline Cases cases_of<Op::residual_layer_norm>() {
  return {
      one([](const Tensors& in) { return residual_layer_norm(in[0], in[1], in[2], in[3]); },
          {normal({3, 6}), normal({3, 6}), normal({6}), normal({6})}),
      one([](const Tensors& in) { return residual_layer_norm(in[0], in[1], {}, {}, {.axes = 2}); },
          {normal({2, 3, 4}), normal({2, 3, 4})}),
      one([](const Tensors& in) { return residual_layer_norm(in[0], in[0], in[1]); }, {normal({2, 5}), normal({5})})};
}
template <> inline Cases cases_of<Op::rms_norm>() {
  return {one([](const Tensors& in) { return rms_norm(in[0], in[1]); }, {normal({2, 3, 5}), normal({5})}),
          one([](const Tensors& in) { return rms_norm(in[0]); }, {normal({3, 5})})};
}

template <> inline Cases cases_of<Op::argmax>() {
  return {one([](const Tensors& in) { return gather(in[0], unsqueeze(argmax(in[0], 1), 1), 1); }, {normal({3, 4})})};
}

}  // namespace retrace::op_checks

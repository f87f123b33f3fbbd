// The gradient-check table of the ops: several shapes each, with broadcasting, empty and 0-d tensors where they differ.
#include <array>
#include <limits>

#include <retrace/models/checks/check_case.h>
#include <retrace/ops/ops.h>

namespace retrace {
namespace {

enum class Op {
#define OP(name) name,
#define COMPOSITE(name) name,
#include <retrace/ops/ops.def>
#undef OP
#undef COMPOSITE
};

using Cases = std::vector<CheckCase>;
/// An op without a specialisation here does not compile.
template <Op op>
Cases cases_of() = delete;

Random& numbers() {
  static Random random(20240607);
  return random;
}
Tensor normal(const Shape& shape) { return numbers().normal(shape, f64); }
Tensor positive(const Shape& shape) { return numbers().uniform(shape, 0.5, 2, f64); }

using UnaryOp = Tensor (*)(const Tensor&);
CheckCase of(UnaryOp op, const Tensor& x, std::vector<double> kinks = {}) {
  return {[op](const Tensors& in) { return Tensors{op(in[0])}; }, {x}, std::move(kinks)};
}
Cases unary(UnaryOp op, std::vector<double> kinks = {}) {
  return {of(op, normal({3, 4}), kinks), of(op, normal({}), kinks), of(op, normal({0, 3}), kinks)};
}
Cases unary_positive(UnaryOp op) { return {of(op, positive({3, 4})), of(op, positive({})), of(op, positive({2, 0}))}; }

using BinaryOp = Tensor (*)(const Tensor&, const Tensor&);
Cases binary(BinaryOp op, Tensor (*draw)(const Shape&) = normal) {
  const auto both = [op](const Tensors& in) { return Tensors{op(in[0], in[1])}; };
  return {{both, {draw({3, 4}), draw({3, 4})}},
          {both, {draw({2, 1, 3, 1}), draw({4, 1, 5})}},
          {both, {draw({3, 4}), draw({4})}},
          {both, {draw({3, 4}), draw({})}},
          {both, {draw({1}), draw({2, 3})}},
          {both, {draw({0, 3}), draw({1, 3})}},
          {[op](const Tensors& in) { return Tensors{op(in[0], in[0])}; }, {draw({3})}}};
}

using ReduceOp = Tensor (*)(const Tensor&, const Axes&, ReduceOptions);
Cases reductions(ReduceOp op, bool of_nothing = true) {
  const auto with = [op](const Axes& axes, ReduceOptions options) {
    return [op, axes, options](const Tensors& in) { return Tensors{op(in[0], axes, options)}; };
  };
  Cases cases{{with({}, {}), {normal({2, 3, 4})}},
              {with(1, {}), {normal({2, 3, 4})}},
              {with({0, 2}, {.keepdims = true}), {normal({2, 3, 4})}},
              {with(-1, {}), {normal({3, 33})}},
              {with({}, {}), {normal({})}}};
  if (of_nothing) cases.push_back({with(0, {}), {normal({4, 0})}});
  return cases;
}

template <class F>
CheckCase one(F f, std::initializer_list<Tensor> inputs, std::vector<double> kinks = {}) {
  return {[f](const Tensors& in) { return Tensors{f(in)}; }, Tensors(inputs), std::move(kinks)};
}

const double infinity = std::numeric_limits<double>::infinity();

// ---- arithmetic ------------------------------------------------------------------------------------------------------

template <> Cases cases_of<Op::identity>() { return unary(identity); }
template <> Cases cases_of<Op::add>() { return binary(add); }
template <> Cases cases_of<Op::sub>() { return binary(sub); }
template <> Cases cases_of<Op::mul>() { return binary(mul); }
template <> Cases cases_of<Op::div>() { return binary(div, positive); }
template <> Cases cases_of<Op::neg>() { return unary(neg); }
template <> Cases cases_of<Op::scale>() { return {one([](const Tensors& in) { return scale(in[0], -1.7); }, {normal({3, 4})})}; }
template <> Cases cases_of<Op::shift>() { return {one([](const Tensors& in) { return shift(in[0], 2.5); }, {normal({3, 4})})}; }
Cases extremes(BinaryOp op) {
  const Tensor a = arange(0, 12, 1, f64), b = full({12}, 5.5, f64);
  return {one([op](const Tensors& in) { return op(in[0], in[1]); }, {a, b}),
          one([op](const Tensors& in) { return op(in[0], in[1]); }, {reshape(a, {3, 4}), tensor({2.5, 7.5, 3.5, 20.0}, f64)})};
}
template <> Cases cases_of<Op::maximum>() { return extremes(maximum); }
template <> Cases cases_of<Op::minimum>() { return extremes(minimum); }
template <> Cases cases_of<Op::pow>() {
  return {one([](const Tensors& in) { return pow(in[0], 2.5); }, {positive({3, 4})}),
          one([](const Tensors& in) { return pow(in[0], 3.0); }, {normal({4})}),
          one([](const Tensors& in) { return pow(in[0], in[1]); }, {positive({3, 4}), normal({4})})};
}
template <> Cases cases_of<Op::exp>() { return unary(exp); }
template <> Cases cases_of<Op::log>() { return unary_positive(log); }
template <> Cases cases_of<Op::sqrt>() { return unary_positive(sqrt); }
template <> Cases cases_of<Op::square>() { return unary(square); }
template <> Cases cases_of<Op::abs>() { return unary(abs, {0}); }
template <> Cases cases_of<Op::reciprocal>() { return unary_positive(reciprocal); }
template <> Cases cases_of<Op::sin>() { return unary(sin); }
template <> Cases cases_of<Op::cos>() { return unary(cos); }
template <> Cases cases_of<Op::clip>() {
  return {one([](const Tensors& in) { return clip(in[0], -0.5, 0.7); }, {normal({3, 8})}, {-0.5, 0.7})};
}
template <> Cases cases_of<Op::where>() {
  return {one([](const Tensors& in) { return where(in[0], in[1], in[2]); },
              {indices({1, 0, 1, 0}), normal({3, 4}), normal({3, 1})})};
}
template <> Cases cases_of<Op::masked_fill>() {
  return {one([](const Tensors& in) { return masked_fill(in[1], in[0], 7.0); }, {indices({1, 0, 0, 1}), normal({3, 4})})};
}
template <> Cases cases_of<Op::to>() {
  return {one([](const Tensors& in) { return in[0].dtype() == dual ? in[0] * 2.0 : to(to(in[0], dual), f64) * 2.0; },
              {normal({3})})};
}

// ---- activations -----------------------------------------------------------------------------------------------------

template <> Cases cases_of<Op::sigmoid>() { return unary(sigmoid); }
template <> Cases cases_of<Op::tanh>() { return unary(tanh); }
template <> Cases cases_of<Op::relu>() { return unary(relu, {0}); }
template <> Cases cases_of<Op::leaky_relu>() {
  return {one([](const Tensors& in) { return leaky_relu(in[0], 0.1); }, {normal({3, 4})}, {0})};
}
template <> Cases cases_of<Op::gelu>() { return unary(gelu); }
template <> Cases cases_of<Op::gelu_tanh>() { return unary(gelu_tanh); }
template <> Cases cases_of<Op::silu>() { return unary(silu); }
template <> Cases cases_of<Op::softplus>() { return unary(softplus); }
template <> Cases cases_of<Op::log_sigmoid>() { return unary(log_sigmoid); }

// ---- products --------------------------------------------------------------------------------------------------------

CheckCase product(const Shape& a, const Shape& b, MatmulOptions options = {}) {
  return one([options](const Tensors& in) { return matmul(in[0], in[1], options); }, {normal(a), normal(b)});
}
template <> Cases cases_of<Op::matmul>() {
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
template <> Cases cases_of<Op::linear>() {
  const auto with_bias = [](const Tensors& in) { return linear(in[0], in[1], in[2]); };
  return {one(with_bias, {normal({4, 3}), normal({6, 3}), normal({6})}),
          one(with_bias, {normal({2, 5, 3}), normal({6, 3}), normal({6})}),
          one(with_bias, {normal({0, 3}), normal({6, 3}), normal({6})}),
          one([](const Tensors& in) { return linear(in[0], in[1]); }, {normal({3}), normal({6, 3})})};
}
template <> Cases cases_of<Op::outer>() {
  return {one([](const Tensors& in) { return outer(in[0], in[1]); }, {normal({3}), normal({4})})};
}

// ---- reductions ------------------------------------------------------------------------------------------------------

template <> Cases cases_of<Op::sum>() { return reductions(sum); }
template <> Cases cases_of<Op::mean>() { return reductions(mean); }
template <> Cases cases_of<Op::max>() { return reductions(max, false); }
template <> Cases cases_of<Op::min>() { return reductions(min, false); }
template <> Cases cases_of<Op::var>() { return reductions(var); }
template <> Cases cases_of<Op::prod>() {
  Cases cases = reductions(prod);
  cases.push_back(one([](const Tensors& in) { return prod(in[0], 1); }, {tensor({{1.5, 0.0, 2.0}, {0.0, 0.0, 3.0}}, f64)}));
  return cases;
}
template <> Cases cases_of<Op::logsumexp>() { return reductions(logsumexp); }
template <> Cases cases_of<Op::norm>() { return {one([](const Tensors& in) { return norm(in[0], 1); }, {positive({3, 4})})}; }
template <> Cases cases_of<Op::cumsum>() {
  return {one([](const Tensors& in) { return cumsum(in[0], 1); }, {normal({2, 3, 4})}),
          one([](const Tensors& in) { return cumsum(in[0]); }, {normal({5})})};
}

// ---- softmax and normalisation -----------------------------------------------------------------------------------------

template <> Cases cases_of<Op::softmax>() {
  const Tensor mask = tensor({{0.0, -infinity, 0.5}, {-infinity, -infinity, -infinity}}, f64);
  return {one([](const Tensors& in) { return softmax(in[0]); }, {normal({3, 5})}),
          one([](const Tensors& in) { return softmax(in[0], 1); }, {normal({2, 3, 4})}),
          one([](const Tensors& in) { return softmax(in[0], 0); }, {normal({17})}),
          one([mask](const Tensors& in) { return softmax(in[0], -1, to(mask, in[0].dtype())); }, {normal({4, 2, 3})})};
}
template <> Cases cases_of<Op::log_softmax>() {
  return {one([](const Tensors& in) { return log_softmax(in[0]); }, {normal({3, 5})}),
          one([](const Tensors& in) { return log_softmax(in[0], 0); }, {normal({3, 2, 4})})};
}
template <> Cases cases_of<Op::layer_norm>() {
  return {one([](const Tensors& in) { return layer_norm(in[0], in[1], in[2]); }, {normal({3, 6}), normal({6}), normal({6})}),
          one([](const Tensors& in) { return layer_norm(in[0], in[1], {}, {.axes = 2}); }, {normal({2, 3, 4}), normal({3, 4})}),
          one([](const Tensors& in) { return layer_norm(in[0], {}, in[1]); }, {normal({2, 5}), normal({5})}),
          one([](const Tensors& in) { return layer_norm(in[0]); }, {normal({3, 9})})};
}
template <> Cases cases_of<Op::rms_norm>() {
  return {one([](const Tensors& in) { return rms_norm(in[0], in[1]); }, {normal({2, 3, 5}), normal({5})}),
          one([](const Tensors& in) { return rms_norm(in[0]); }, {normal({3, 5})})};
}

// ---- shape and indexing ------------------------------------------------------------------------------------------------

template <> Cases cases_of<Op::reshape>() { return {one([](const Tensors& in) { return reshape(in[0], {4, 6}); }, {normal({2, 3, 4})})}; }
template <> Cases cases_of<Op::transpose>() {
  return {one([](const Tensors& in) { return transpose(in[0], {2, 0, 1}); }, {normal({2, 3, 4})}),
          one([](const Tensors& in) { return transpose(in[0]); }, {normal({3, 5})})};
}
template <> Cases cases_of<Op::slice>() {
  return {one([](const Tensors& in) { return slice(in[0], {range(1, 3)}); }, {normal({4, 5})}),
          one([](const Tensors& in) { return slice(in[0], {all, 1}); }, {normal({4, 5})}),
          one([](const Tensors& in) { return slice(in[0], {range(Index::none, Index::none, -2), new_axis, range(1)}); }, {normal({4, 5})}),
          one([](const Tensors& in) { return in[0][2]; }, {normal({4, 5})})};
}
template <> Cases cases_of<Op::concat>() {
  return {one([](const Tensors& in) { return concat({in[0], in[1], in[0]}, 1); }, {normal({2, 3}), normal({2, 1})})};
}
template <> Cases cases_of<Op::stack>() {
  return {one([](const Tensors& in) { return stack({in[0], in[1]}, 1); }, {normal({2, 3}), normal({2, 3})})};
}
template <> Cases cases_of<Op::split>() {
  return {{[](const Tensors& in) { return split(in[0], {1, 3, 2}, 1); }, {normal({2, 6})}}};
}
template <> Cases cases_of<Op::squeeze>() { return {one([](const Tensors& in) { return squeeze(in[0], 1); }, {normal({3, 1, 4})})}; }
template <> Cases cases_of<Op::unsqueeze>() { return {one([](const Tensors& in) { return unsqueeze(in[0], 1); }, {normal({3, 4})})}; }
template <> Cases cases_of<Op::broadcast_to>() {
  return {one([](const Tensors& in) { return broadcast_to(in[0], {2, 4, 3}); }, {normal({2, 1, 3})}),
          one([](const Tensors& in) { return broadcast_to(in[0], {2, 3}); }, {normal({})})};
}
template <> Cases cases_of<Op::flip>() { return {one([](const Tensors& in) { return flip(in[0], 1); }, {normal({3, 4})})}; }
template <> Cases cases_of<Op::pad>() { return {one([](const Tensors& in) { return pad(in[0], {{1, 2}, {0, 3}}); }, {normal({2, 3})})}; }
template <> Cases cases_of<Op::take>() {
  return {one([](const Tensors& in) { return take(in[1], in[0], 1); }, {indices({3, 0, 3, 1}), normal({3, 4})})};
}
template <> Cases cases_of<Op::gather>() {
  return {one([](const Tensors& in) { return gather(in[1], in[0]); }, {indices({{0, 2}, {4, 4}}), normal({2, 5})})};
}
template <> Cases cases_of<Op::embedding>() {
  return {one([](const Tensors& in) { return embedding(in[1], in[0]); }, {indices({{0, 2}, {3, 2}}), normal({5, 3})})};
}
template <> Cases cases_of<Op::scatter_add>() {
  return {one([](const Tensors& in) { return scatter_add(in[1], in[0], in[2]); }, {indices({1, 3, 1}), normal({4, 2}), normal({3, 2})})};
}

// ---- losses and the rest -----------------------------------------------------------------------------------------------

CheckCase classified(CrossEntropyOptions options) {
  return one([options](const Tensors& in) { return cross_entropy(in[1], in[0], options); }, {indices({1, 0, 3, 1}), normal({4, 5})});
}
template <> Cases cases_of<Op::cross_entropy>() {
  return {classified({}), classified({.reduction = Reduction::sum}), classified({.reduction = Reduction::none}),
          classified({.ignore_index = 1}),
          one([](const Tensors& in) { return cross_entropy(in[0], in[1]); }, {normal({3, 4}), positive({3, 4})})};
}
template <> Cases cases_of<Op::nll>() {
  return {one([](const Tensors& in) { return nll(in[1], in[0]); }, {indices({1, 0, 3}), normal({3, 4})})};
}
Cases pair_losses(Tensor (*loss)(const Tensor&, const Tensor&, Reduction)) {
  Cases cases;
  for (const Reduction reduction : {Reduction::mean, Reduction::sum, Reduction::none})
    cases.push_back(one([=](const Tensors& in) { return loss(in[0], in[1], reduction); }, {normal({3, 4}), normal({3, 4})}));
  return cases;
}
template <> Cases cases_of<Op::mse>() { return pair_losses(mse); }
template <> Cases cases_of<Op::bce_with_logits>() { return pair_losses(bce_with_logits); }
template <> Cases cases_of<Op::dropout>() {
  return {one([](const Tensors& in) {
            Random random(5);
            return dropout(in[0], 0.4, &random);
          }, {normal({5, 5})})};
}
/// Both results of attention, so that gradients come through the weights, too.
CheckCase attends(const AttentionOptions& options, Tensors inputs) {
  return {[options](const Tensors& in) {
            auto [y, weights] = attention_with_weights(in[0], in[1], in[2], options);
            return Tensors{y, weights};
          },
          std::move(inputs)};
}
template <> Cases cases_of<Op::attention>() {
  const double hidden = -std::numeric_limits<double>::infinity();
  return {one([](const Tensors& in) { return attention(in[0], in[1], in[2], {.heads = 2, .causal = true}); },
              {normal({2, 3, 4}), normal({2, 3, 4}), normal({2, 3, 6})}),
          one([](const Tensors& in) { return attention(in[0], in[0], in[0], {.heads = 3}); }, {normal({2, 4, 6})}),
          one([=](const Tensors& in) {
            const Tensor mask = tensor({{0, hidden, 0.5}, {hidden, hidden, hidden}}, in[0].dtype());
            return attention(in[0], in[1], in[2], {.mask = mask});
          }, {normal({2, 4}), normal({3, 4}), normal({3, 5})})};
}
template <> Cases cases_of<Op::attention_with_weights>() {
  return {attends({}, {normal({2, 3, 4}), normal({2, 5, 4}), normal({2, 5, 3})}),
          attends({.heads = 2, .causal = true}, {normal({3, 2, 4}), normal({3, 5, 4}), normal({3, 5, 2})})};
}

template <> Cases cases_of<Op::packed_attention>() {
  const auto with = [](const PackedAttentionOptions& options) {
    return [options](const Tensors& in) {
      auto [y, weights] = packed_attention(in[0], options);
      return Tensors{y, weights};
    };
  };
  return {{with({.heads = 2, .key_size = 2, .layout = PackedLayout::by_head}), {normal({2, 3, 10})}},
          {with({.heads = 2, .key_size = 1, .queries = 2}), {normal({2, 3, 8})}},
          {with({.key_size = 2, .causal = true}), {normal({4, 6})}}};
}

/// Inputs of a recurrent op over 3 steps of 2 samples, with 2 hidden units: p, the states, U.
Tensors recurrent_inputs(std::int64_t gates, int states, const Shape& projected) {
  Tensors inputs{normal(projected)};
  for (int k = 0; k < states; ++k) inputs.push_back(normal({2, 2}));
  inputs.push_back(normal({2 * gates, 2}));
  return inputs;
}
template <> Cases cases_of<Op::lstm_sequence>() {
  const auto with_lengths = [](const Tensor& lengths) {
    return [lengths](const Tensors& in) {
      auto [y, h, c] = lstm_sequence(in[0], in[1], in[2], in[3], lengths);
      return Tensors{y, h, c};
    };
  };
  const Tensors inputs = recurrent_inputs(4, 2, {2, 3, 8});
  return {{with_lengths({}), inputs}, {with_lengths(indices({3, 1})), inputs}};
}
template <> Cases cases_of<Op::lstm_step>() {
  return {{[](const Tensors& in) {
             auto [h, c] = lstm_step(in[0], in[1], in[2], in[3]);
             return Tensors{h, c};
           },
           recurrent_inputs(4, 2, {2, 8})}};
}
template <> Cases cases_of<Op::gru_sequence>() {
  const auto with_lengths = [](const Tensor& lengths) {
    return [lengths](const Tensors& in) {
      auto [y, h] = gru_sequence(in[0], in[1], in[2], in[3], lengths);
      return Tensors{y, h};
    };
  };
  Tensors inputs = recurrent_inputs(3, 1, {2, 3, 6});
  inputs.push_back(normal({6}));
  return {{with_lengths({}), inputs}, {with_lengths(indices({0, 2})), inputs}};
}
template <> Cases cases_of<Op::gru_step>() {
  Tensors inputs = recurrent_inputs(3, 1, {2, 6});
  inputs.push_back(normal({6}));
  return {{[](const Tensors& in) { return Tensors{gru_step(in[0], in[1], in[2], in[3])}; }, inputs}};
}
template <> Cases cases_of<Op::rnn_sequence>() {
  const auto of = [](Activation activation, const Tensor& lengths) {
    return [=](const Tensors& in) {
      auto [y, h] = rnn_sequence(in[0], in[1], in[2], activation, lengths);
      return Tensors{y, h};
    };
  };
  const Tensors inputs = recurrent_inputs(1, 1, {2, 3, 2});
  return {{of(Activation::tanh, {}), inputs}, {of(Activation::relu, indices({2, 3})), inputs}};
}
template <> Cases cases_of<Op::rnn_step>() {
  return {{[](const Tensors& in) { return Tensors{rnn_step(in[0], in[1], in[2])}; }, recurrent_inputs(1, 1, {2, 2})}};
}

template <> Cases cases_of<Op::argmax>() {
  return {one([](const Tensors& in) { return gather(in[0], unsqueeze(argmax(in[0], 1), 1), 1); }, {normal({3, 4})})};
}
template <> Cases cases_of<Op::custom_op>() {
  return {one([](const Tensors& in) {
            return custom_op("product", {in[0], in[1]}, [](const Tensors& x) { return x[0] * x[1]; },
                             [](const Tensor& dy, const Tensors& x, const Tensor&) {
                               return Tensors{dy * x[1], dy * x[0]};
                             });
          }, {normal({3, 2}), normal({3, 2})})};
}

}  // namespace

std::vector<CheckedName> op_cases() {
  std::vector<CheckedName> result;
#define OP(name) result.push_back({#name, true, cases_of<Op::name>()});
#define COMPOSITE(name) result.push_back({#name, false, cases_of<Op::name>()});
#include <retrace/ops/ops.def>
#undef OP
#undef COMPOSITE
  return result;
}

}  // namespace retrace

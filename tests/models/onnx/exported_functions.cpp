#include <retrace/tests/models/onnx/exported_functions.h>

#include <memory>

namespace retrace {
namespace {

using F = std::vector<ExportedFunction>;

constexpr ReduceOptions kept{.keepdims = true};

void add_elementwise(F& all_functions, Random& random) {
  const Tensor w = parameter(random.normal({4}));
  const auto add = [&](const char* name, auto f, bool in_f64 = true) {
    all_functions.push_back({name, [f](const Tensors& in) { return Tensors{f(in[0])}; }, false, in_f64});
  };
  add("arithmetic",
      [w](const Tensor& x) { return identity((x + w) * (x - w) / (2 + square(x)) + 3 * -x + 1 / (x * x + 1)); });
  add("extremes", [w](const Tensor& x) { return maximum(x, w) + minimum(x, 0.5 * w) + clip(x, -0.5, 0.5) + relu(x); });
  add("powers", [](const Tensor& x) {
    const Tensor a = abs(x) + 0.5;
    return pow(a, 1.5) + pow(a, a) + exp(x) + log(a) + sqrt(a) + reciprocal(a) + log1p(a) + expm1(x);
  });
  add("turns", [](const Tensor& x) { return sin(x) + cos(x) + sign(x) + floor(x) + ceil(x) + round(4 * x); });
  add(
      "arcs", [](const Tensor& x) { return asin(tanh(x)) + acos(tanh(x) / 2) + atan(x); }, false);
  add("logarithms", [](const Tensor& x) {
    const Tensor p = sigmoid(x);
    return logit(p) + logit(p, 0.4) + xlogy(relu(x), p) + remainder(x, p);
  });
  add("bent", [](const Tensor& x) { return leaky_relu(x, 0.1) + elu(x, 0.7) + selu(x) + silu(x) + mish(x); });
  add("logistic", [](const Tensor& x) { return sigmoid(x) + tanh(x) + softplus(30 * x) + log_sigmoid(30 * x); });
  add("gelus", [](const Tensor& x) { return gelu_tanh(x) + gelu_tanh(3 * x); });
  add(
      "error-function", [](const Tensor& x) { return erf(x) + gelu(x); }, false);
  add("halves", [](const Tensor& x) { return swiglu(x); });
  add("chosen", [](const Tensor& x) {
    const Tensor mask = indices({1, 0, 0, 1});
    return where(mask, x, 2 * x) + masked_fill(x, mask, 3);
  });
}

void add_shapes(F& all_functions, Random& random) {
  const Tensor w = parameter(random.normal({4, 5}));
  const auto add = [&](const char* name, auto f) {
    all_functions.push_back({name, [f](const Tensors& in) { return Tensors{f(in[0])}; }});
  };
  add("reshaped", [](const Tensor& x) { return reshape(transpose(reshape(x, {x.dim(0) * x.dim(1), 4})), {2, -1}); });
  add("permuted", [](const Tensor& x) { return transpose(x, {2, 0, 1}); });
  add("last-rows", [](const Tensor& x) { return slice(x, {all, range(x.dim(1) - 2, x.dim(1)), range(3, 0, -2)}); });
  add("single-row", [](const Tensor& x) { return slice(x, {all, -1, new_axis}) + slice(x, {all, 0, new_axis}); });
  add("parts", [](const Tensor& x) {
    const Tensors parts = split(x, {1, 3}, 2);
    return concat({parts[1], flip(x, 1), parts[0]}, -1);
  });
  add("padded", [](const Tensor& x) { return pad(x, {{0, 0}, {2, 1}, {1, 0}}); });
  add("repeated", [](const Tensor& x) { return broadcast_to(sum(x, 1, kept), {x.dim(0), x.dim(1), 4}); });
  add("triangles", [](const Tensor& x) { return tril(x, 1) + triu(x, -1); });
  add("taken", [](const Tensor& x) { return take(x, indices({3, 0, 3}), 2); });
  add("gathered", [](const Tensor& x) {
    return gather(x, broadcast_to(tensor({{{0, 2}}}), {x.dim(0), x.dim(1), 2}).to(i64), 2);
  });
  add("scattered", [](const Tensor& x) {
    return scatter_add(transpose(x, {2, 0, 1}), indices({1, 1}),
                       transpose(slice(x, {all, all, range(0, 2)}), {2, 0, 1}));
  });
  add("scattered_along_lines", [](const Tensor& x) {
    const Tensor ids = broadcast_to(tensor({{{0, 2}}}), {x.dim(0), x.dim(1), 2}).to(i64);
    const Tensor updates = slice(x, {all, all, range(1, 3)});
    return scatter(x, ids, updates, 2) - scatter_add(x, ids, 2 * updates, 2);
  });
  add("sums", [](const Tensor& x) {
    return concat({sum(x, -1, kept), mean(x, -1, kept), max(x, -1, kept), min(x, -1, kept), prod(x, -1, kept),
                   logsumexp(x, -1, kept), norm(x, -1, kept), norm(x, -1, kept, 3), var(x, -1, kept), std(x, -1, kept)},
                  -1);
  });
  add("sums-over-time", [](const Tensor& x) { return sum(x, 1) + logsumexp(x, 1) + mean(x, 1) + cumsum(x, 1)[0][0]; });
  add("products", [w](const Tensor& x) { return matmul(x, x, {.transpose_b = true}); });
  add("other-products", [w](const Tensor& x) {
    const Tensor a = matmul(x, w), b = linear(x, transpose(w), {}, Activation::tanh);
    return a + b + matmul(outer(sum(sum(x, 0), 0), sum(sum(x, 0), 0)), w)[0];
  });
  add("rows", [](const Tensor& x) { return softmax(x) + log_softmax(x) + softmax(x, 1); });
  add("norms", [](const Tensor& x) { return layer_norm(x) + residual_layer_norm(x, 2 * x) + rms_norm(x); });
}

template <class Layer> void add_layer(F& all_functions, const char* name, std::shared_ptr<Layer> layer) {
  all_functions.push_back({name,
                           [layer](const Tensors& in) {
                             auto result = (*layer)(in[0], {}, in[1]);
                             if constexpr (requires { result.h; })
                               return Tensors{result.y, result.h};
                             else
                               return Tensors{result.y, result.state.h, result.state.c};
                           },
                           true});
}

void add_layers(F& all_functions, Random& random) {
  const RecurrentOptions both{.layers = 2, .bidirectional = true};
  add_layer(all_functions, "lstm-with-lengths", std::make_shared<Lstm>(4, 5, random));
  add_layer(all_functions, "gru-with-lengths", std::make_shared<Gru>(4, 5, random));
  add_layer(all_functions, "rnn-with-lengths", std::make_shared<Rnn>(4, 5, random));
  add_layer(all_functions, "lstm-without-biases",
            std::make_shared<Lstm>(4, 5, random, RecurrentOptions{.bias = false}));
  add_layer(all_functions, "gru-without-biases", std::make_shared<Gru>(4, 5, random, RecurrentOptions{.bias = false}));
  add_layer(all_functions, "lstm-both-with-lengths", std::make_shared<Lstm>(4, 5, random, both));
  add_layer(all_functions, "gru-both-with-lengths", std::make_shared<Gru>(4, 5, random, both));
  const Tensor weight = parameter(random.normal({8, 2}));
  all_functions.push_back({"lstm-of-sums", [weight](const Tensors& in) {
                             const Tensor state = zeros({in[0].dim(0), 2}) + 0.5;
                             const auto [y, h, c] = lstm_sequence(concat({in[0], in[0]}, -1), state, state, weight);
                             return Tensors{y, h, c};
                           }});
  for (const bool causal : {false, true})
    all_functions.push_back({causal ? "attention-causal" : "attention-two-heads", [causal](const Tensors& in) {
                               const AttentionOptions two{.heads = 2, .causal = causal};
                               return Tensors{attention(in[0], 2 * in[0], in[0] + 1, two)};
                             }});
  const Tensor bias = parameter(random.normal({2, 1, 1}));
  all_functions.push_back({"attention-shared-heads", [](const Tensors& in) {
                             const Tensor q = concat({in[0], 2 * in[0]}, -1);
                             return Tensors{attention(q, in[0], in[0], {.heads = 4, .scale = 0.3, .key_heads = 2})};
                           }});
  all_functions.push_back({"attention-one-key-head", [](const Tensors& in) {
                             const Tensor k = slice(in[0], {all, all, range(0, 2)});
                             return Tensors{attention(in[0], k, k, {.heads = 2, .causal = true, .key_heads = 1})};
                           }});
  all_functions.push_back({"attention-with-biases", [bias](const Tensors& in) {
                             return Tensors{attention(in[0], in[0], in[0], {.heads = 2, .mask = bias})};
                           }});
  for (const PackedLayout layout : {PackedLayout::by_head, PackedLayout::by_kind})
    all_functions.push_back(
        {layout == PackedLayout::by_head ? "packed-by-head" : "packed-by-kind", [layout](const Tensors& in) {
           const Tensor qkv = concat({in[0], 2 * in[0], in[0] + 1}, -1);
           return Tensors{packed_attention(qkv, {.heads = 2, .key_size = 2, .layout = layout, .queries = 1})};
         }});
  for (const RotaryPairs pairs : {RotaryPairs::adjacent, RotaryPairs::halves})
    all_functions.push_back(
        {pairs == RotaryPairs::halves ? "rotary-halves" : "rotary", [pairs](const Tensors& in) {
           return Tensors{rotary(concat({in[0], in[0]}, -1), {.heads = 2, .first = 3, .pairs = pairs})};
         }});
  const auto table = std::make_shared<Embedding>(9, 4, random);
  all_functions.push_back({"ids", [table](const Tensors& in) { return Tensors{(*table)(in[1])}; }, true});
}

}  // namespace

std::vector<ExportedFunction> exported_functions(Random& random) {
  std::vector<ExportedFunction> functions;
  add_elementwise(functions, random);
  add_shapes(functions, random);
  add_layers(functions, random);
  return functions;
}

}  // namespace retrace

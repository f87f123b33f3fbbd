// The loss of a stack of LSTMs whose weights are diagonal, which predicts each letter of a text from those before it.
#include <retrace/benchmarks/gradbench/retrace_tool.h>

#include <cmath>
#include <vector>

namespace retrace::gradbench {
namespace {

/// Two rows per layer, a weight and a bias for each of the gates forget, in, out and the change: `weights` [2 layers,
/// 4 b]. The weights of the input and of the output, and the bias of that: `outer` [3, b].
struct Model {
  Tensor weights, outer;
};
/// The hidden and the cell of each layer, in turn: [2 layers, b]; and the bits of each letter: [letters, b].
struct Data {
  Tensor state, letters;
};
struct Layer {
  Tensor weight, bias, hidden, cell;  // [4 b], [4 b], [b], [b]
};

// The next hidden of a layer. Forget and out see the input, in and change the hidden of the step before.
Tensor step(Layer& layer, const Tensor& x) {
  const std::int64_t b = x.numel();
  const Tensor gates = concat({x, layer.hidden, x, layer.hidden}) * layer.weight + layer.bias;
  const Tensors open = split(sigmoid(slice(gates, {range(0, 3 * b)})), {b, b, b});
  layer.cell = layer.cell * open[0] + open[1] * tanh(slice(gates, {range(3 * b)}));
  return layer.hidden = open[2] * tanh(layer.cell);
}

Tensor loss(const Model& model, const Data& data) {
  const std::int64_t steps = data.letters.dim(0) - 1;
  std::vector<Layer> layers;
  for (std::int64_t row = 0; row < model.weights.dim(0); row += 2)
    layers.push_back({model.weights[row], model.weights[row + 1], data.state[row], data.state[row + 1]});
  const Tensor x = slice(data.letters, {range(0, steps)}) * model.outer[0];
  Tensors last;
  for (std::int64_t t = 0; t < steps; ++t) {
    Tensor y = x[t];
    for (Layer& layer : layers) y = step(layer, y);
    last.push_back(y);
  }
  const Tensor y = stack(last) * model.outer[1] + model.outer[2];
  // ln (2 + sum e^y).
  const Tensor total = logsumexp(concat({y, full({steps, 1}, std::log(2.0), f64)}, 1), 1, {.keepdims = true});
  return -mean(slice(data.letters, {range(1)}) * (y - total));
}

Run prepare(const Input& input, bool gradient) {
  const Tensors parameters{input.tensor("main_params"), input.tensor("extra_params")};
  const Data data{input.tensor("state"), input.tensor("sequence")};
  const auto f = [data](const Tensors& at) { return loss({at[0], at[1]}, data); };
  return [=]() -> Answer {
    if (!gradient) return f(parameters);
    const Tensors gradients = gradients_of(f, parameters);
    return concat({reshape(gradients[0], {-1}), reshape(gradients[1], {-1})});
  };
}
constexpr Function functions[] = {{"objective", [](const Input& input) { return prepare(input, false); }},
                                  {"jacobian", [](const Input& input) { return prepare(input, true); }}};

}  // namespace

const Eval lstm{"lstm", functions};

}  // namespace retrace::gradbench

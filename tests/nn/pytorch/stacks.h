// The modules of make_stacks.py, and the computations that it does with them.
#pragma once

#include <string>

#include <retrace/nn/nn.h>
#include <retrace/tests/nn/pytorch/layers.h>

namespace retrace {

inline auto pytorch_head(Random& random) {
  return Sequential(Linear(6, 4, random), relu, Dropout(0.5), LayerNorm(4), Linear(4, 2, random));
}

struct PytorchStacks {
  static constexpr RecurrentOptions both{.layers = 2, .bidirectional = true};
  static constexpr TransformerLayerOptions form(FeedForward activation, bool norm_first) {
    return {.heads = 2, .feed_forward = 5, .activation = activation, .norm_first = norm_first};
  }
  Lstm lstm;
  Gru gru;
  Rnn rnn, relu_rnn;
  MultiHeadAttention attention;
  TransformerEncoderLayer encoder_layer;
  TransformerDecoderLayer decoder_layer;
  TransformerEncoder encoder;
  TransformerDecoder decoder;
  decltype(pytorch_head(std::declval<Random&>())) head;

  explicit PytorchStacks(Random& random)
      : lstm(6, 3, random, both),
        gru(6, 3, random, both),
        rnn(6, 3, random, both),
        relu_rnn(6, 3, random, Activation::relu, {.layers = 3}),
        attention(6, random, {.heads = 2, .bias = true, .key_size = 4, .value_size = 5}),
        encoder_layer(6, random, form(FeedForward::gelu, false)),
        decoder_layer(6, random, form(FeedForward::relu, true)),
        encoder(6, random, {.layers = 2, .layer = form(FeedForward::relu, true), .final_norm = true}),
        decoder(6, random, {.layers = 2, .layer = form(FeedForward::gelu, false), .final_norm = true}),
        head(pytorch_head(random)) {}
  void visit(auto&& see) const {
    see("lstm", lstm), see("gru", gru), see("rnn", rnn), see("relu_rnn", relu_rnn), see("attention", attention);
    see("encoder_layer", encoder_layer), see("decoder_layer", decoder_layer);
    see("encoder", encoder), see("decoder", decoder), see("head", head);
  }
};

/// y with zeros behind each sample's length, as PyTorch pads what it unpacks.
inline Tensor zeros_behind(const Tensor& y, const Tensor& lengths) {
  const Tensor inside = exp(padding_mask(lengths, y.dim(1), y.dtype()));
  return y * reshape(inside, {y.dim(0), y.dim(1), 1});
}

/// The outputs of the recurrent layers, of all steps and of those within the lengths.
inline void add_recurrent_outputs(NamedTensors& y, const PytorchStacks& stacks, const Tensor& x, const Tensor& h,
                                  const Tensor& c, const Tensor& lengths) {
  for (const bool of_lengths : {false, true}) {
    const Tensor of = of_lengths ? lengths : Tensor();
    const auto add = [&](const std::string& name, const Tensor& value) {
      y[name + (of_lengths ? "_of_lengths" : "")] = value;
    };
    const auto add_outputs = [&](const std::string& name, const Tensor& outputs) {
      add(name, of_lengths ? zeros_behind(outputs, lengths) : outputs);
    };
    const LstmResult lstm = stacks.lstm(x, {h, c}, of);
    add_outputs("lstm", lstm.y), add("lstm_h", lstm.state.h), add("lstm_c", lstm.state.c);
    const GruResult gru = stacks.gru(x, h, of);
    add_outputs("gru", gru.y), add("gru_h", gru.h);
    const RnnResult rnn = stacks.rnn(x, h, of);
    add_outputs("rnn", rnn.y), add("rnn_h", rnn.h);
  }
  const RnnResult relu_rnn = stacks.relu_rnn(x);
  y["relu_rnn"] = relu_rnn.y, y["relu_rnn_h"] = relu_rnn.h;
}

inline NamedTensors outputs(const PytorchStacks& stacks, const NamedTensors& example, Dtype dtype) {
  const auto input = [&](const std::string& name) { return example.at("input." + name).to(dtype); };
  const Tensor x = input("x"), memory = input("memory"), lengths = example.at("input.lengths");
  NamedTensors y;
  add_recurrent_outputs(y, stacks, x, input("h"), input("c"), lengths);
  const AttentionResult attention = stacks.attention(x, input("key"), input("value"));
  y["attention"] = attention.y, y["attention_weights"] = attention.weights;
  y["encoder_layer"] = stacks.encoder_layer(x, {.causal = true});
  y["decoder_layer"] = stacks.decoder_layer(x, memory);
  y["encoder"] = stacks.encoder(x, {.lengths = lengths});
  y["decoder"] = stacks.decoder(x, memory, {.memory_lengths = sub(lengths, indices({1, 1}))});
  y["head"] = stacks.head(x);
  return y;
}

}  // namespace retrace

// The layers of make_example.py, and the computations that it does with them.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <retrace/nn/nn.h>

namespace retrace {

struct PytorchEncoder {
  Embedding embed;
  Lstm lstm;
  explicit PytorchEncoder(Random& random) : embed(7, 4, random), lstm(4, 5, random) {}
  void visit(auto&& see) const { see("embed", embed), see("lstm", lstm); }
};

struct PytorchLayers {
  std::optional<PytorchEncoder> encoder;
  Gru gru;
  Rnn rnn;
  GruCell gru_cell;
  LstmCell lstm_cell;
  RnnCell rnn_cell;
  MultiHeadAttention attention, attention_without_bias;
  std::vector<Linear> blocks;
  LayerNorm norm;

  explicit PytorchLayers(Random& random)
      : encoder(random),
        gru(4, 5, random),
        rnn(4, 5, random),
        gru_cell(4, 5, random),
        lstm_cell(4, 5, random),
        rnn_cell(4, 5, random),
        attention(6, random, {.heads = 2, .bias = true}),
        attention_without_bias(6, random, {.heads = 3}),
        norm(4) {
    blocks.emplace_back(4, 3, random);
    blocks.emplace_back(3, 2, random, BiasOptions{.bias = false});
  }
  void visit(auto&& see) const {
    see("encoder", encoder), see("gru", gru), see("rnn", rnn);
    see("gru_cell", gru_cell), see("lstm_cell", lstm_cell), see("rnn_cell", rnn_cell);
    see("attention", attention), see("attention_without_bias", attention_without_bias);
    see("blocks", blocks), see("norm", norm);
  }
};

using NamedTensors = std::map<std::string, Tensor>;

inline NamedTensors outputs(const PytorchLayers& layers, const NamedTensors& example, Dtype dtype) {
  const auto input = [&](const std::string& name) { return example.at("input." + name).to(dtype); };
  const Tensor x = input("x"), h = input("h"), c = input("c");
  const LstmResult lstm = layers.encoder->lstm(x);
  const LstmState lstm_cell = layers.lstm_cell(at_step(x, 0), {h, c});
  const AttentionResult attention = layers.attention(input("query"), input("key"), input("value"));
  return {{"embed", layers.encoder->embed(example.at("input.ids"))},
          {"norm", layers.norm(x)},
          {"blocks", layers.blocks[1](layers.blocks[0](x))},
          {"gru", layers.gru(x, h).y},
          {"rnn", layers.rnn(x, h).y},
          {"lstm", lstm.y},
          {"lstm_h", lstm.state.h},
          {"lstm_c", lstm.state.c},
          {"gru_cell", layers.gru_cell(at_step(x, 0), h)},
          {"rnn_cell", layers.rnn_cell(at_step(x, 0), h)},
          {"lstm_cell_h", lstm_cell.h},
          {"lstm_cell_c", lstm_cell.c},
          {"attention", attention.y},
          {"attention_weights", attention.weights},
          {"attention_without_bias", layers.attention_without_bias(input("query"), input("key"), input("value")).y}};
}

}  // namespace retrace

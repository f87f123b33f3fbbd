// Layers of recurrent cells, stacked and in both directions of time: what Lstm, Gru and Rnn share.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <retrace/nn/layers/recurrent.h>
#include <retrace/nn/module/module.h>
#include <retrace/ops/loops/padding.h>

namespace retrace {

/// The layers of an Lstm, a Gru or an Rnn.
struct RecurrentOptions {
  int layers = 1;              // each reads the outputs of the one below
  bool bidirectional = false;  // a second cell per layer runs from each sample's last step to its first
  double dropout = 0;          // the probability to drop an output on its way to the next layer
  bool bias = true;            // whether the cells have biases
};

/// The number of cells: layers, or twice as many if bidirectional. They count as in PyTorch: the first layer's, the
/// first layer's reverse, the second layer's, ...
inline int cells_of(const RecurrentOptions& options) {
  return options.bidirectional ? 2 * options.layers : options.layers;
}
/// The name of cell k in a module: "l0", "l0_reverse", "l1", ... ("l0", "l1", ... in one direction).
std::string name_of_cell(int k, const RecurrentOptions& options);

/// The options. Throws ValueError, naming the layer, unless there is a layer and dropout lies from 0 to 1.
const RecurrentOptions& checked_options(const char* layer, const RecurrentOptions& options);
/// Throws ShapeError unless a state is [cells, batch, hidden], or [batch, hidden] for a single cell.
void check_states(const char* layer, const char* role, const Tensor& state, int cells, std::int64_t batch,
                  std::int64_t hidden);
/// The state of cell k, one of `cells`: its part of `states`, zeros [batch, hidden] if that is undefined.
Tensor state_of_cell(const Tensor& states, int k, int cells, const Shape& shape, Dtype dtype);
/// The states [cells, batch, hidden] of all cells; that of a single cell is itself.
Tensor states_of_cells(const Tensors& states);

/// x [B, T, ...] with the first lengths[b] steps of each sample in reverse order; later steps stay where they are.
/// lengths is i64 [B], or undefined: all T. Throws ShapeError if lengths has another shape or dtype, IndexError if a
/// length is not in [0, T].
Tensor reverse_time(const Tensor& x, const Tensor& lengths);

/// The cells after the first, whose inputs are the outputs of the layer below: make(features of the input).
template <class Cell, class Make>
std::vector<Cell> make_further_cells(std::int64_t input, std::int64_t hidden, const RecurrentOptions& options,
                                     Make&& make) {
  const int directions = options.bidirectional ? 2 : 1;
  std::vector<Cell> further;
  for (int k = 1; k < cells_of(options); ++k) further.push_back(make(k < directions ? input : directions * hidden));
  return further;
}

/// Names the cells after the first.
template <class Cell>
void visit_further_cells(const std::vector<Cell>& further, const RecurrentOptions& options, auto&& see) {
  for (std::size_t k = 0; k < further.size(); ++k)
    see(name_of_cell(static_cast<int>(k) + 1, options).c_str(), further[k]);
}

/// The outputs of the last layer, [B, T, H], or [B, T, 2H] with those of both directions side by side.
/// run(k, input [B, T, features]) gives the outputs of cell k.
template <class Run>
Tensor run_layers(const Tensor& x, const RecurrentOptions& options, const Tensor& lengths, Random* random, Run&& run) {
  Tensor y = with_harmless_padding(x, lengths);
  for (int layer = 0, k = 0; layer < options.layers; ++layer) {
    const Tensor input = layer > 0 && options.dropout > 0 ? dropout(y, options.dropout, random) : y;
    y = run(k++, input);
    if (!options.bidirectional) continue;
    const Tensor reverse = run(k++, reverse_time(input, lengths));
    y = concat({y, reverse_time(reverse, lengths)}, -1);
  }
  return y;
}

}  // namespace retrace

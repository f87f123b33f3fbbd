// A model of blocks that read a sequence through a matrix memory, with residual connections and the norms first.
#pragma once

#include <vector>

#include <retrace/models/networks/model_spec.h>
#include <retrace/models/networks/states_over_time.h>
#include <retrace/nn/layers.h>
#include <retrace/nn/recurrent.h>
#include <retrace/nn/short_convolution.h>

namespace retrace {

/// The size of a head, if `hidden` features are divided among the heads: rounded down, and at least 1.
inline std::int64_t head_size_of(const ModelSizes& sizes) {
  return sizes.heads < 1 || sizes.hidden < sizes.heads ? 1 : sizes.hidden / sizes.heads;
}

/// x [B, T, I] -> z [B, O]: rows A = x W + b, in each block A = A + Block(conv(LN(A))), z = LN(A_T) W_out + b_out.
/// Dropout falls on what each block adds and on the rows that are answered from; a null random turns it off, as in
/// evaluation. Block(features, random, {.heads, .head_size}) gives {y, state}, state with a member `memory`.
template <class Block> struct BlockModel {
  Linear input;
  std::vector<LayerNorm> norms;                // of each block's input
  std::vector<ShortConvolution> convolutions;  // of 4 rows each, so that a block sees its last neighbours
  std::vector<Block> blocks;
  LayerNorm norm;
  Linear out;
  double dropout;

  BlockModel(const ModelSizes& sizes, Random& random)
      : input(sizes.input, sizes.hidden, random),
        norm(sizes.hidden),
        out(sizes.hidden, sizes.output, random),
        dropout(sizes.form.dropout.value_or(0)) {
    for (int k = 0; k < sizes.form.layers.value_or(default_layers); ++k) {
      norms.emplace_back(sizes.hidden);
      convolutions.emplace_back(sizes.hidden, random);
      blocks.emplace_back(sizes.hidden, random,
                          typename Block::Options{.heads = sizes.heads, .head_size = head_size_of(sizes)});
    }
  }
  Tensor operator()(const Tensor& x, Random* random = nullptr) const {
    const Tensor y = answers(x, 1, random);
    return reshape(y, {y.dim(0), y.dim(2)});
  }
  /// Answers after each of the last `count` rows: [B, count, O]. Throws ShapeError unless count is 1 to T.
  Tensor answers(const Tensor& x, std::int64_t count, Random* random = nullptr) const {
    check_input("BlockModel", x, 3, input.weight.dim(1));
    check_last_steps(x, count);
    Tensor rows = input(x);
    for (std::size_t k = 0; k < blocks.size(); ++k)
      rows = rows + dropped(blocks[k](convolutions[k](norms[k](rows))).y, random);
    return out(dropped(norm(last_steps(rows, count)), random));
  }
  /// The memory of each block after every row, with the rows of all heads below each other, and every answer.
  StatesOverTime states(const Tensor& x) const {
    check_input("BlockModel", x, 3, input.weight.dim(1));
    StatesOverTime result;
    std::vector<decltype(blocks.front()(x).state)> states(blocks.size());
    std::vector<Tensor> seen(blocks.size());  // LN(A) of the last rows
    Tensors answers;
    for (const Tensor& now : steps_of(x)) {
      Tensor row = unsqueeze(input(now), 1);
      for (std::size_t k = 0; k < blocks.size(); ++k) row = row + step(k, row, seen[k], states[k], result);
      answers.push_back(out(norm(row)));
    }
    result.answers = concat(answers, 1);
    return result;
  }
  void visit(auto&& see) const {
    see("input", input), see("norms", norms), see("convolutions", convolutions), see("blocks", blocks),
        see("norm", norm), see("out", out);
  }

 private:
  static constexpr int default_layers = 2;

  Tensor dropped(const Tensor& x, Random* random) const {
    return dropout > 0 ? retrace::dropout(x, dropout, random) : x;
  }
  /// Returns the rows that block k adds to a single row [B, 1, F], and updates the state and the last rows for the
  /// convolution.
  Tensor step(std::size_t k, const Tensor& row, Tensor& seen, auto& state, StatesOverTime& result) const {
    const Tensor normalised = norms[k](row);
    seen = seen.defined() ? concat({seen, normalised}, 1) : normalised;
    if (seen.dim(1) > convolutions[k].taps()) seen = slice(seen, {all, range(1)});
    auto after = blocks[k](slice(convolutions[k](seen), {all, range(-1)}), state);
    state = std::move(after.state);
    const Shape shape = state.memory.shape();  // [B, heads, rows, columns]
    const Tensor shown = reshape(state.memory, {shape[0], shape[1] * shape[2], shape[3]});
    result.add(blocks.size() == 1 ? "memory" : text("memory of layer ", k), shown);
    state.memory = reshape(shown, shape);  // later steps depend on what is shown
    return after.y;
  }
};

}  // namespace retrace

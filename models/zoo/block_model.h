// A model of blocks that read a sequence through a matrix memory, with residual connections and the norms first.
#pragma once

#include <vector>

#include <retrace/models/networks/model_spec.h>
#include <retrace/models/networks/states_over_time.h>
#include <retrace/nn/layers/layers.h>
#include <retrace/nn/layers/recurrent.h>
#include <retrace/nn/layers/short_convolution.h>

namespace retrace {

/// The size of a head, if `hidden` features are divided among the heads: rounded down, and at least 1.
inline std::int64_t head_size_of(const ModelSizes& sizes) {
  return sizes.heads < 1 || sizes.hidden < sizes.heads ? 1 : sizes.hidden / sizes.heads;
}

/// The gated MLP of a layer, linear2(swiglu(linear1(LN(A)))), with f features between its Linear layers (Shazeer, "GLU
/// variants improve transformer", 2020).
struct GatedMlp {
  LayerNorm norm;
  Linear linear1, linear2;  // F -> 2 f, f -> F

  GatedMlp(std::int64_t size, std::int64_t features, Random& random)
      : norm(size),
        linear1(size, checked_product("GatedMlp", "2 x features", {2, features}), random),
        linear2(features, size, random) {}
  Tensor operator()(const Tensor& rows) const { return linear2(swiglu(linear1(norm(rows)))); }
  void visit(auto&& see) const { see("norm", norm), see("linear1", linear1), see("linear2", linear2); }
};

/// x [B, T, I] -> z [B, O]: rows A = x W + b, in each layer A = A + Block(conv(LN(A))) and, with a feed-forward part
/// (as published networks of gated DeltaNet and xLSTM have it), A = A + GatedMlp(A); z = LN(A_T) W_out + b_out. Dropout
/// falls on what each part adds and on the rows that are answered from; a null random turns it off, as in evaluation.
/// Block(features, random, {.heads, .head_size}) gives {y, state}, state with a member `memory`.
template <class Block> struct BlockModel {
  Linear input;
  std::vector<LayerNorm> norms;                // of each block's input
  std::vector<ShortConvolution> convolutions;  // of 4 rows each, so that a block sees its last neighbours
  std::vector<Block> blocks;
  std::vector<GatedMlp> mlps;  // of each layer, or none
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
      if (sizes.form.feed_forward) mlps.emplace_back(sizes.hidden, *sizes.form.feed_forward, random);
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
    for (std::size_t k = 0; k < blocks.size(); ++k) {
      rows = rows + dropped(blocks[k](convolutions[k](norms[k](rows))).y, random);
      if (!mlps.empty()) rows = rows + dropped(mlps[k](rows), random);
    }
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
      for (std::size_t k = 0; k < blocks.size(); ++k) {
        row = row + step(k, row, seen[k], states[k], result);
        if (!mlps.empty()) row = row + mlps[k](row);
      }
      answers.push_back(out(norm(row)));
    }
    result.answers = concat(answers, 1);
    return result;
  }
  void visit(auto&& see) const {
    see("input", input), see("norms", norms), see("convolutions", convolutions), see("blocks", blocks),
        see("mlps", mlps), see("norm", norm), see("out", out);
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

// A small model of attention alone, as a baseline: it sees the whole sequence at once and remembers nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <retrace/models/networks/row_positions.h>
#include <retrace/models/networks/sequence_state.h>
#include <retrace/models/networks/states_over_time.h>
#include <retrace/nn/layers/layers.h>
#include <retrace/nn/layers/multi_head_attention.h>
#include <retrace/nn/layers/transformer.h>

namespace retrace {

/// The type of an AttentionModel's blocks: AttentionBlock, or the library's TransformerEncoderLayer with the norms
/// first, which has biases in its attention and, unless another is chosen, an MLP of twice the size.
enum class BlockKind { attention_block, encoder_layer };

/// The sizes of an AttentionModel.
struct AttentionModelOptions {
  std::int64_t input = 1;
  std::int64_t output = 1;  // 0: without W_out; the answers are LN(A_t)
  std::int64_t size = 64;   // of a row
  int heads = 4;
  int blocks = 2;
  std::int64_t feed_forward = 0;  // features of a block's MLP; 0: the kind's own
  std::int64_t longest = 64;      // the maximum number of steps of a sequence, for learned positions
  RowPositions positions = RowPositions::learned;
  double dropout = 0;  // of attention weights, activations and what each block adds to A
  BlockKind kind = BlockKind::attention_block;
  bool causal = false;  // a row sees only itself and those before it
};

/// The options of an AttentionBlock beside its heads.
struct AttentionBlockOptions {
  std::int64_t feed_forward = 0;  // features of the MLP; 0: twice those of a row
  double dropout = 0;
  AttentionPositions positions = AttentionPositions::none;
};

/// A = A + MHA(LN(A)), A = A + MLP(LN(A)): the block of a transformer (Vaswani et al., 2017), with the norms first.
/// AttendOptions choose what a row sees; a cache continues the rows of earlier calls. Dropout falls on the attention
/// weights, the activations of the MLP, and both terms added to A; a null random turns it off. The constructor throws
/// as MultiHeadAttention's does.
struct AttentionBlock {
  LayerNorm attention_norm, mlp_norm;
  MultiHeadAttention attention;
  Linear hidden, out;
  double dropout;

  AttentionBlock(std::int64_t size, int heads, Random& random, const AttentionBlockOptions& options = {});
  Tensor operator()(const Tensor& rows, const AttendOptions& attend = {}) const;
  /// The last `count` rows of (*this)(rows, attend), without the time that the others take. Throws ShapeError unless
  /// count is 1 to T.
  Tensor last(const Tensor& rows, std::int64_t count, const AttendOptions& attend = {}) const;
  void visit(auto&& see) const {
    see("attention_norm", attention_norm), see("mlp_norm", mlp_norm), see("attention", attention);
    see("hidden", hidden), see("out", out);
  }

 private:
  Tensor dropped(const Tensor& x, Random* random) const;
};

/// x [B, T, I] -> z [B, O], the encoder of a Transformer: rows A = x W + b + position_t (without that term unless
/// positions are learned or sinusoidal), blocks, z = LN(A_T) W_out + b_out. Every row sees all others, the later ones
/// too, unless causal. A null random turns off the dropout, as in evaluation.
struct AttentionModel {
  Linear input;
  std::optional<Parameter> positions;           // if learned: [longest, size], normal with deviation 0.1 at first
  std::vector<AttentionBlock> blocks;           // of that kind
  std::vector<TransformerEncoderLayer> layers;  // instead of them, of the other
  LayerNorm norm;
  std::optional<Linear> out;  // none for output 0
  AttentionModelOptions options;

  AttentionModel(const AttentionModelOptions& form, Random& random);
  Tensor operator()(const Tensor& x, Random* random = nullptr) const;
  /// Answers after each of the last `count` rows: [B, count, O]. Throws ShapeError unless count is 1 to T.
  Tensor answers(const Tensor& x, std::int64_t count, Random* random = nullptr) const;
  /// From the keys and values of each block. Throws ValueError unless causal: rows would have to see later ones.
  Continued continued(const Tensor& x, const SequenceState& state, Random* random = nullptr) const;
  /// The rows after each block, and the answers y after each row.
  StatesOverTime states(const Tensor& x) const;
  void visit(auto&& see) const {
    see("input", input), see("positions", positions), see("blocks", blocks), see("layers", layers);
    see("norm", norm), see("out", out);
  }

 private:
  const char* scope_name() const;  // after the kind of its blocks
  /// The rows of x, of which the first has position `first`.
  Tensor embed(const Tensor& x, std::int64_t first = 0) const;
  /// The last `count` rows of block k, of either kind; a cache continues earlier rows.
  Tensor run_block(int k, const Tensor& rows, std::int64_t count, Random* random, KeyValueCache* cache = nullptr) const;
  /// The last `count` rows after all blocks.
  Tensor last_rows(const Tensor& x, std::int64_t count, Random* random) const;
  Tensor answer(const Tensor& rows) const { return out ? (*out)(norm(rows)) : norm(rows); }
};

}  // namespace retrace

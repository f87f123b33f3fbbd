// A small model of attention alone, as a baseline: it sees the whole sequence at once and remembers nothing.
#pragma once

#include <vector>

#include <retrace/models/networks/states_over_time.h>
#include <retrace/nn/layers.h>
#include <retrace/nn/multi_head_attention.h>

namespace retrace {

/// The sizes of an AttentionModel.
struct AttentionModelOptions {
  std::int64_t input = 1;
  std::int64_t output = 1;
  std::int64_t size = 64;  // of a row
  int heads = 4;
  int blocks = 2;
  std::int64_t longest = 64;  // the maximum number of steps of a sequence
};

/// A = A + MHA(LN(A)), A = A + MLP(LN(A)): the block of a transformer (Vaswani et al., 2017), with the norms first.
struct AttentionBlock {
  LayerNorm attention_norm, mlp_norm;
  MultiHeadAttention attention;
  Linear hidden, out;

  AttentionBlock(std::int64_t size, int heads, Random& random);
  Tensor operator()(const Tensor& rows) const;
  struct Continued {
    Tensor rows;
    Tensor seen;  // LN(A) of all rows so far [B, S + T, size]
  };
  /// The causal block, in which a row sees only itself and those before it: rows of this segment [B, T, size], and of
  /// earlier segments, whose LN(A) is `seen` [B, S, size] (undefined: none).
  Continued continued(const Tensor& rows, const Tensor& seen) const;
  void visit(auto&& see) const {
    see("attention_norm", attention_norm), see("mlp_norm", mlp_norm), see("attention", attention);
    see("hidden", hidden), see("out", out);
  }

 private:
  /// The rest of the block after attention: A = A + attended, A = A + MLP(LN(A)).
  Tensor after_attention(const Tensor& rows, const Tensor& attended) const;
};

/// x [B, T, I] -> z [B, O]: rows A = x W + b + position_t, blocks, z = LN(A_T) W_out + b_out. Every
/// row sees all others, the later ones too.
struct AttentionModel {
  Linear input;
  Parameter positions;  // [longest, size], normal with deviation 0.1 at first
  std::vector<AttentionBlock> blocks;
  LayerNorm norm;
  Linear out;

  AttentionModel(const AttentionModelOptions& options, Random& random);
  Tensor operator()(const Tensor& x) const;
  /// Answers after each of the last `count` rows: [B, count, O]. Throws ShapeError unless count is 1 to T.
  Tensor answers(const Tensor& x, std::int64_t count) const;
  /// The rows after each block, and the answers y after each row.
  StatesOverTime states(const Tensor& x) const;
  void visit(auto&& see) const {
    see("input", input), see("positions", positions), see("blocks", blocks), see("norm", norm), see("out", out);
  }

 private:
  Tensor embed(const Tensor& x) const;
  Tensor rows_of(const Tensor& x) const;
};

}  // namespace retrace

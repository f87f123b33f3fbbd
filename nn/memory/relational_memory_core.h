// The relational memory core (Santoro et al., "Relational recurrent neural networks", NeurIPS 2018), as the authors'
// implementation in Sonnet v1 computes it. For the other relational memories see relational_memories.h.
#pragma once

#include <optional>
#include <vector>

#include <retrace/nn/layers/layers.h>
#include <retrace/nn/memory/relational_memory_core_variants.h>

namespace retrace {

/// How the candidate and the old memory are mixed: by a gate per element (unit), by a gate per slot (memory), or not at
/// all: the candidate is the new memory (none).
enum class MemoryGate { unit, memory, none };

/// The size of a RelationalMemoryCore, its parts and its gates.
struct RelationalMemoryCoreOptions {
  std::int64_t slots = 8;  // N
  std::int64_t head_size = 32;
  int heads = 8;              // a slot has S = heads head_size features
  std::int64_t key_size = 0;  // of q and k in one head; 0: head_size
  int blocks = 1;             // the number of times per step that attention and MLP are applied
  int mlp_layers = 2;         // 0: no MLP; a block ends with its attention
  bool residual = true;       // false: A = LN(attention of A), A = LN(MLP(A))
  bool layer_norm = true;     // false: LN(x) is x, without weights, in every variant
  MemoryGate gate = MemoryGate::unit;
  double forget_bias = 1;
  double input_bias = 0;
  double eps = 1e-5;             // of the layer norms
  double dropout = 0;            // of attention weights and the outputs of attention and MLP
  std::int64_t input_rows = 1;   // R; more than 1 if the input is a matrix
  bool memory_rows_only = true;  // in the last block, only the rows of the memory are queries, as the result does not
                                 // depend on the others (unless a variant's norms run over all rows: then all are)
  RelationalMemoryCoreVariant variant = {};  // differences from the computation described here
};

/// The slots after a step of a RelationalMemoryCore, with its attention weights and gates.
struct RelationalMemoryCoreResult {
  Tensor memory;      // [B, N, S]
  Tensor weights;     // [B, heads, N (or N + R), N + R] of the last block; [B, N, N + R] for one head
  Tensor input_gate;  // [B, N, S] (unit) or [B, N, 1] (memory); undefined without gates
  Tensor forget_gate;
};

/// One block, applied to the rows A [B, L, S] of memory and input:
///   z = LN(A W_qkv + b), in each head [q k v]; A = LN(A + softmax(q k^T / sqrt(key_size)) v); A = LN(MLP(A) + A).
struct RelationalMemoryBlock {
  Linear qkv;
  std::optional<LayerNorm> qkv_norm, attention_norm, mlp_norm;  // as far as the options have them

  RelationalMemoryBlock(const RelationalMemoryCoreOptions& options, Random& random);
  void visit(auto&& see) const {
    see("qkv", qkv), see("qkv_norm", qkv_norm), see("attention_norm", attention_norm), see("mlp_norm", mlp_norm);
  }
};

/// One step, for memory M [B, N, S] and input x [B, I] (or [B, R, I]):
///   u = x W + b, A = [M; u], blocks (which share one MLP: ReLU between its layers, none after the last), m = A[:, :N],
///   i, f = halves of tanh(M) W_m + b_m + u W_u + b_u, M' = sigmoid(i + input_bias) tanh(m) + sigmoid(f + forget_bias)
///   M.
/// Without gates, M' = m. Initial weights are truncated normal with standard deviation 1 / sqrt(fan_in), biases zero.
/// Dropout falls on the attention weights and on what attention and MLP add to A, as in a Transformer; a null random
/// turns it off, as in evaluation. The returned weights are those before dropout. The constructor throws ValueError if
/// a size is not positive or dropout is not in [0, 1].
struct RelationalMemoryCore {
  Linear input;
  std::vector<RelationalMemoryBlock> blocks;
  std::vector<Linear> mlp;
  std::optional<Linear> gate_of_input, gate_of_memory;
  std::optional<Parameter> input_bias, forget_bias;  // [], if the variant learns them
  RelationalMemoryCoreOptions options;

  /// The terms of a step that depend on the input x [..., I] alone, so that a sequence is projected in one product.
  struct Projected {
    Tensor rows;  // u [..., S]
    Tensor gate;  // u W_u + b_u [..., 2 S or 2]; undefined without gates
  };

  RelationalMemoryCore(std::int64_t input_size, Random& random, const RelationalMemoryCoreOptions& core = {});
  /// Throws ShapeError unless the memory is [B, N, S] and x [B, I] (or [B, R, I]).
  RelationalMemoryCoreResult operator()(const Tensor& memory, const Tensor& x, Random* random = nullptr) const;
  /// The input terms of x [B, I] or [B, R, I], or of a sequence [B, T, I] or [B, T, R, I].
  Projected project(const Tensor& x) const;
  /// One step with projected rows u [B, S] (or [B, R, S]).
  RelationalMemoryCoreResult step(const Tensor& memory, const Projected& x, Random* random = nullptr) const;
  /// The initial slots [B, N, S]: the N x N identity for every sample, padded with zero columns if S > N, truncated to
  /// S columns if S < N.
  Tensor initial_memory(std::int64_t batch) const;
  std::int64_t slot_size() const { return options.heads * options.head_size; }
  void visit(auto&& see) const {
    see("input", input), see("blocks", blocks), see("mlp", mlp);
    see("gate_of_input", gate_of_input), see("gate_of_memory", gate_of_memory);
    see("input_bias", input_bias), see("forget_bias", forget_bias);
  }

 private:
  std::vector<Linear> make_mlp(Random& random) const;
  Tensor apply_mlp(const Tensor& x, int block) const;
  Tensor bias_of(const std::optional<Parameter>& learned, double constant) const;
  AttentionResult attend(const RelationalMemoryBlock& block, const Tensor& rows, std::int64_t queries,
                         Random* random) const;
  Tensor dropped(const Tensor& x, Random* random) const;
};

}  // namespace retrace

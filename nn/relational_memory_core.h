// The relational memory core (Santoro et al., "Relational recurrent neural networks", NeurIPS 2018), as DeepMind's own
// implementation in Sonnet v1 computes it.
#pragma once

#include <optional>
#include <vector>

#include <retrace/nn/layers.h>
#include <retrace/nn/relational_memory_core_variants.h>

namespace retrace {

/// How much of the candidate and of the old memory goes into the new one: a gate for every element, one for every slot,
/// or the candidate as it is.
enum class MemoryGate { unit, memory, none };

struct RelationalMemoryCoreOptions {
  std::int64_t slots = 8;  // N
  std::int64_t head_size = 32;
  int heads = 8;              // slots have S = heads head_size features
  std::int64_t key_size = 0;  // of a head; 0: head_size
  int blocks = 1;             // attention and MLP, so many times a step
  int mlp_layers = 2;         // 0: no MLP: blocks end with their attention
  bool residual = true;       // false: A = LN(attention of A), A = LN(MLP(A))
  bool layer_norm = true;     // false: LN(x) is x, without weights, whatever norm the variant has
  MemoryGate gate = MemoryGate::unit;
  double forget_bias = 1;
  double input_bias = 0;
  double eps = 1e-5;             // of the layer norms
  std::int64_t input_rows = 1;   // R: more for a matrix as input
  bool memory_rows_only = true;  // in the last block only the memory asks: what the input's rows became is not used
                                 // (but where a variant's norms go over all rows: there all ask)
  RelationalMemoryCoreVariant variant = {};  // what is computed otherwise than here
};

struct RelationalMemoryCoreResult {
  Tensor memory;      // [B, N, S]
  Tensor weights;     // [B, heads, N (or N + R), N + R]: of the last block; without the axis of the heads for one head
  Tensor input_gate;  // [B, N, S] (unit) or [B, N, 1] (memory); undefined without gates
  Tensor forget_gate;
};

/// One block, on the rows A [B, L, S] of memory and input:
///   z = LN(A W_qkv + b), in each head [q k v]; A = LN(A + softmax(q k^T / sqrt(key_size)) v); A = LN(MLP(A) + A).
struct RelationalMemoryBlock {
  Linear qkv;
  std::optional<LayerNorm> qkv_norm, attention_norm, mlp_norm;  // those that the options leave

  RelationalMemoryBlock(const RelationalMemoryCoreOptions& options, Random& random);
  void visit(auto&& see) const {
    see("qkv", qkv), see("qkv_norm", qkv_norm), see("attention_norm", attention_norm), see("mlp_norm", mlp_norm);
  }
};

/// One step, for memory M [B, N, S] and input x [B, I] (or [B, R, I]):
///   u = x W + b, A = [M; u], blocks (which share one MLP: ReLU between its layers, none after the last), m = A[:, :N],
///   i, f = halves of tanh(M) W_m + b_m + u W_u + b_u, M' = sigmoid(i + input_bias) tanh(m) + sigmoid(f + forget_bias)
///   M.
/// Without gates M' = m. Weights begin truncated normal with deviation 1 / sqrt(fan_in), biases zero.
struct RelationalMemoryCore {
  Linear input;
  std::vector<RelationalMemoryBlock> blocks;
  std::vector<Linear> mlp;
  std::optional<Linear> gate_of_input, gate_of_memory;
  std::optional<Parameter> input_bias, forget_bias;  // [], where the variant learns them
  RelationalMemoryCoreOptions options;

  /// What the steps need of inputs x [..., I]: it can be computed for a whole sequence at once.
  struct Projected {
    Tensor rows;  // u [..., S]
    Tensor gate;  // u W_u + b_u [..., 2 S or 2]; undefined without gates
  };

  RelationalMemoryCore(std::int64_t input_size, Random& random, const RelationalMemoryCoreOptions& core = {});
  RelationalMemoryCoreResult operator()(const Tensor& memory, const Tensor& x) const;
  /// x [B, I], [B, R, I], and the same over time: [B, T, I], [B, T, R, I].
  Projected project(const Tensor& x) const;
  /// The step, for projected rows u [B, S] (or [B, R, S]).
  RelationalMemoryCoreResult step(const Tensor& memory, const Projected& x) const;
  /// The identity N x N for every sample, with zero columns on the right where S > N, cut off where S < N: [B, N, S].
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
  AttentionResult attend(const RelationalMemoryBlock& block, const Tensor& rows, std::int64_t queries) const;
};

}  // namespace retrace

// The Neural Turing Machine (Graves, Wayne and Danihelka, "Neural Turing machines", 2014, arXiv 1410.5401).
#pragma once

#include <retrace/nn/layers/layers.h>
#include <retrace/nn/layers/lstm.h>

namespace retrace {

/// The memory of an Ntm.
struct NtmOptions {
  std::int64_t slots = 16;      // N
  std::int64_t slot_size = 16;  // W
  int read_heads = 1;           // R; there is one write head
};

/// The state of an Ntm.
struct NtmState {
  Tensor h, c;           // [B, H], of the LSTM
  Tensor memory;         // M [B, N, W]
  Tensor reads;          // r [B, R, W]: what the heads have read
  Tensor read_weights;   // [B, R, N]: the share of each slot in a read, which sum to 1
  Tensor write_weights;  // [B, 1, N]
};

/// The result of an Ntm.
struct NtmResult {
  Tensor y;        // [B, T, H + R W]: h and the reads after every step
  NtmState state;  // after the last step
};

/// One step, for x [B, I]: h', c' = LSTM([x; r], h, c), and W_f h' + b gives each head k, b, g, s and c, and the write
/// head e and a, too. The weights w of a head become
///   w_c[i] = softmax(softplus(b) cos(tanh(k), M[i])) over the slots i,    by content,
///   w_g = sigmoid(g) w_c + (1 - sigmoid(g)) w,                            or where the head was,
///   v[i] = sum_j softmax(s)[j] w_g[i - j] for j = -1, 0, 1,               moved, where i counts modulo N,
///   w'[i] = v[i]^(1 + softplus(c)) / sum_i v[i]^(1 + softplus(c)),        and sharpened.
/// All heads address M. The read heads read r' = sum_i w'[i] M[i] from it, and then the write head changes it to
/// M'[i] = M[i] (1 - w'[i] sigmoid(e)) + w'[i] tanh(a). The order and the activations are those of Collier and Beel,
/// "Implementing neural Turing machines" (2018, arXiv 1807.08518), and so is M = 1e-6 at the beginning, by which their
/// NTMs learned best. Their first r and w are learned; here r = 0, and every head begins at the first slot. For the
/// cosine see content_weights; v has 1e-16 added to it, so that a power of 0 has a gradient. Weights of the LSTM begin
/// as in LstmCell, others are Glorot-uniform, and biases 0. The constructor throws ValueError if a size is not
/// positive.
struct Ntm {
  using Options = NtmOptions;

  LstmCell controller;  // I + R W -> H
  Linear heads;         // H -> for R + 1 heads, the write head last: k, b, g, s and c, each of all heads; then e and a
  NtmOptions options;

  Ntm(std::int64_t input, std::int64_t hidden, Random& random, const NtmOptions& memory = {});
  /// Begins with the state of an earlier call; a part that is undefined begins as above, h and c with zeros. lengths
  /// [B] (i64; undefined: all T) gives the number of steps of each sample, whose state stays as it is afterwards: y
  /// repeats h and r there. Throws ShapeError unless x is [B, T, I], with T of 1 or more, and the state's parts have
  /// the shapes of NtmState; IndexError if a length is not in [0, T].
  NtmResult operator()(const Tensor& x, const NtmState& state = {}, const Tensor& lengths = {}) const;
  void visit(auto&& see) const { see("controller", controller), see("heads", heads); }

 private:
  NtmState first_state(std::int64_t batch, const NtmState& given, Dtype dtype) const;
  NtmState step(const LstmState& after, const NtmState& before, const Tensor& moves) const;
};

}  // namespace retrace

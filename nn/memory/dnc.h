// The Differentiable Neural Computer (Graves et al., "Hybrid computing using a neural network with dynamic external
// memory", Nature 538, 2016).
#pragma once

#include <retrace/nn/layers/layers.h>
#include <retrace/nn/layers/lstm.h>

namespace retrace {

/// The memory of a Dnc.
struct DncOptions {
  std::int64_t slots = 16;      // N
  std::int64_t slot_size = 16;  // W
  int read_heads = 4;           // R; there is one write head
};

/// The state of a Dnc.
struct DncState {
  Tensor h, c;           // [B, H], of the LSTM
  Tensor memory;         // M [B, N, W]
  Tensor reads;          // r [B, R, W]: what the heads have read
  Tensor read_weights;   // w_r [B, R, N]: the share of each slot in a read
  Tensor write_weights;  // w [B, 1, N]
  Tensor usage;          // u [B, 1, N]: 0 where a slot is free, 1 where it is used
  Tensor links;          // L [B, N, N]: L[i, j] is 1 if slot i was written next after slot j
  Tensor precedence;     // p [B, 1, N]: the share of each slot in the last write
};

/// The result of a Dnc.
struct DncResult {
  Tensor y;        // [B, T, H + R W]: h and the reads after every step
  DncState state;  // after the last step
};

/// One step, for x [B, I]: h', c' = LSTM([x; r], h, c), and W_f h' + b gives each read head k_r, b_r, f and m, and the
/// write head k, b, e, v, g_a and g. With s(z) = sigmoid(z) and content(k, b, M) = softmax((1 + softplus(b))
/// cos(k, M[i])) over the slots i:
///   u' = (u + w - u w) prod_r (1 - s(f) w_r),                      a slot that was read may be free again;
///   a[i] = (1 - u'[i]) times the product of u' of all slots that are used less,
///   w' = s(g) (s(g_a) a + (1 - s(g_a)) content(k, b, M)),          to free slots, or by content;
///   M'[i] = M[i] (1 - w'[i] s(e)) + w'[i] v,
///   L'[i, j] = (1 - w'[i] - w'[j]) L[i, j] + w'[i] p[j] for i != j, 0 for i = j,
///   p' = (1 - sum_i w'[i]) p + w',
///   w_r' = m_1 L'^T w_r + m_2 content(k_r, b_r, M') + m_3 L' w_r,  backwards, by content and forwards in the order of
///                                                                 the writes, for (m_1, m_2, m_3) = softmax(m);
///   r' = sum_i w_r'[i] M'[i].
/// In a, 1e-6 + (1 - 1e-6) u' takes the place of u', as in the authors' code: with usages of 0, no product would have a
/// gradient. Gradients flow through the sorted usages, not through their order. For the cosine see content_weights. All
/// parts of the state are 0 at the beginning. Weights of the LSTM begin as in LstmCell, others are Glorot-uniform, and
/// biases 0. The constructor throws ValueError if a size is not positive.
struct Dnc {
  using Options = DncOptions;

  LstmCell controller;  // I + R W -> H
  Linear heads;         // H -> k_r, b_r, f and m, each of all read heads, then k, b, e, v, g_a and g
  DncOptions options;

  Dnc(std::int64_t input, std::int64_t hidden, Random& random, const DncOptions& memory = {});
  /// Begins with the state of an earlier call; a part that is undefined begins with zeros. lengths [B] (i64; undefined:
  /// all T) gives the number of steps of each sample, whose state stays as it is afterwards: y repeats h and r there.
  /// Throws ShapeError unless x is [B, T, I], with T of 1 or more, and the state's parts have the shapes of DncState;
  /// IndexError if a length is not in [0, T].
  DncResult operator()(const Tensor& x, const DncState& state = {}, const Tensor& lengths = {}) const;
  void visit(auto&& see) const { see("controller", controller), see("heads", heads); }

 private:
  DncState first_state(std::int64_t batch, const DncState& given, Dtype dtype) const;
  DncState step(const LstmState& after, const DncState& before) const;
};

}  // namespace retrace

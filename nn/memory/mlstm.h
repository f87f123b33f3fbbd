// The LSTM with a matrix memory of xLSTM (Beck et al., "xLSTM: extended long short-term memory", NeurIPS 2024, arXiv
// 2405.04517), section 2.3.
#pragma once

#include <retrace/nn/layers/layers.h>

namespace retrace {

/// The activation of the forget gate of an Mlstm: sigmoid(z) or e^z.
enum class MlstmForgetGate { sigmoid, exp };

/// The heads of an Mlstm and its gates.
struct MlstmOptions {
  int heads = 4;
  std::int64_t head_size = 16;  // d, of keys, queries and values
  MlstmForgetGate forget_gate = MlstmForgetGate::sigmoid;
  double least_forget_bias = 3;  // of the first head; the others are evenly spaced up to
  double most_forget_bias = 6;   // that of the last
  double eps = 1e-6;             // of the norm
};

/// The state of an Mlstm: C e^-m and n e^-m, scaled by the stabiliser m so that no exponential overflows.
struct MlstmState {
  Tensor memory;      // [B, heads, d, d + 1]: C^T, and n as its last column
  Tensor stabiliser;  // m [B, heads], without a gradient
};

/// The result of an Mlstm.
struct MlstmResult {
  Tensor y;          // [B, T, F]
  MlstmState state;  // after the last step
};

/// For x [B, T, F] -> y [B, T, F], in each head:
///   q_t, v_t = W x_t + b; k_t = (W x_t + b) / sqrt(d); o_t = sigmoid(W x_t + b);
///   i_t = e^(w_i x_t + b), f_t = sigmoid(w_f x_t + b) or e^(w_f x_t + b);
///   C_t = f_t C_(t-1) + i_t v_t k_t^T, n_t = f_t n_(t-1) + i_t k_t;
///   h_t = C_t q_t / max(|n_t^T q_t|, 1), y_t = W_y [o_t rms_norm(h_t) gain of all heads].
/// It is computed with the stabiliser m_t = max(ln f_t + m_(t-1), ln i_t), m_0 = 0: C, n and the 1 are scaled by
/// e^-m_t, which h does not depend on, so that m gets no gradient; a scaled divisor below 1e-6 counts as 1e-6. Up to 64
/// steps are computed together, in products with L x L weights, and only the state after them is stored. The paper's
/// block has a short convolution before q and k (see ShortConvolution) and an up-projection; both are left out here.
/// Initially each weight is Glorot-uniform, and biases are 0, but that of the forget gate. The constructor throws
/// ValueError if a size is not positive.
struct Mlstm {
  using Options = MlstmOptions;

  Linear project;  // rows for q, k, v and o of all heads, then for i and f: F -> 4 heads d + 2 heads
  RmsNorm norm;    // of a head, with the gain [d]
  Linear out;      // heads d -> F, without a bias
  MlstmOptions options;

  Mlstm(std::int64_t features, Random& random, const MlstmOptions& mlstm = {});
  /// Begins with the state of an earlier call, or with zeros. lengths [B] (i64; undefined: all T) gives the number of
  /// steps of each sample, whose state stays as it is afterwards; y has no meaning there. Throws ShapeError unless x is
  /// [B, T, F], with T of 1 or more, and the state's parts [B, heads, d, d + 1] and [B, heads]; IndexError if a length
  /// is not in [0, T].
  MlstmResult operator()(const Tensor& x, const MlstmState& state = {}, const Tensor& lengths = {}) const;
  void visit(auto&& see) const { see("project", project), see("norm", norm), see("out", out); }
};

}  // namespace retrace

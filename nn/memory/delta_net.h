// The gated delta rule (Yang, Kautz and Hatamizadeh, "Gated Delta Networks: improving Mamba2 with delta rule", ICLR
// 2025, arXiv 2412.06464): a matrix memory that forgets by a gate, and replaces what it holds for a key.
#pragma once

#include <retrace/nn/layers/layers.h>

namespace retrace {

/// The heads of a DeltaNet and its gates.
struct DeltaNetOptions {
  int heads = 4;
  std::int64_t head_size = 16;  // d, of keys, queries and values
  double largest_step = 2;      // of beta; 1 in the paper. Above 1, I - beta k k^T can have a negative eigenvalue, with
                                // which a layer can follow states such as a parity (Grazzi et al., ICLR 2025, arXiv
                                // 2411.12537)
  double least_kept = 0.9;      // alpha at first, from this in the first head
  double most_kept = 0.999;     // to this in the last
  double eps = 1e-6;            // of the norms
};

/// The state of a DeltaNet.
struct DeltaNetState {
  Tensor memory;  // S^T [B, heads, d, d], whose rows are sums of values
};

/// The result of a DeltaNet.
struct DeltaNetResult {
  Tensor y;             // [B, T, F]
  DeltaNetState state;  // after the last step
};

/// For x [B, T, F] -> y [B, T, F], in each head:
///   q_t, k_t = z / |z| for z = silu(W_q x_t + b), silu(W_k x_t + b); v_t = silu(W_v x_t + b);
///   beta_t = largest_step sigmoid(w_beta x_t + b), alpha_t = sigmoid(w_alpha x_t + b);
///   S_t = S_(t-1) alpha_t (I - beta_t k_t k_t^T) + beta_t v_t k_t^T, o_t = S_t q_t;
///   y_t = W_o [rms_norm(o_t) gain silu(W_g x_t + b) of all heads].
/// The paper's block has a short convolution after each of q, k and v (see ShortConvolution), and computes alpha with
/// two more parameters per head; both are left out here. Up to 8 steps are computed together (section 3.3 of the
/// paper), and only the memory after them is stored. Initially each weight is Glorot-uniform, and biases are 0, but
/// that of alpha, for which alpha goes from least_kept to most_kept. The constructor throws ValueError if a size is not
/// positive, the largest step is not in (0, 2], or least_kept or most_kept is not in (0, 1).
struct DeltaNet {
  using Options = DeltaNetOptions;

  Linear project;  // rows for q, k, v and g of all heads, then for beta and alpha: F -> 4 heads d + 2 heads
  RmsNorm norm;    // of a head, with the gain [d]
  Linear out;      // heads d -> F, without a bias
  DeltaNetOptions options;

  DeltaNet(std::int64_t features, Random& random, const DeltaNetOptions& delta = {});
  /// Begins with the state of an earlier call, or with zeros. lengths [B] (i64; undefined: all T) gives the number of
  /// steps of each sample, whose memory stays as it is afterwards; y has no meaning there. Throws ShapeError unless x
  /// is [B, T, F], with T of 1 or more, and the memory [B, heads, d, d]; IndexError if a length is not in [0, T].
  DeltaNetResult operator()(const Tensor& x, const DeltaNetState& state = {}, const Tensor& lengths = {}) const;
  void visit(auto&& see) const { see("project", project), see("norm", norm), see("out", out); }
};

}  // namespace retrace

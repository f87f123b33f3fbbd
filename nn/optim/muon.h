// Muon, an optimiser for matrices.
#pragma once

#include <retrace/nn/optim/optimizer.h>

namespace retrace {

/// Muon (Jordan et al., "Muon: an optimizer for hidden layers in neural networks", 2024), with the step size of Liu et
/// al. ("Muon is scalable for LLM training", 2025), so that its learning rates are those of AdamW. For a matrix
/// w [n, k] whose sides are both at least min_side:
///   m = momentum m + g; u = g + momentum m; w = (1 - lr weight_decay) w - lr 0.2 sqrt(max(n, k)) orthogonal(u),
/// where orthogonal(U S V^T) is U f(S) V^T, with f(S) between 0.7 and 1.2 for all but the smallest singular values:
/// five steps of a Newton-Schulz iteration. All other parameters are updated as by AdamW with b1, b2 and eps; large
/// embeddings are better left to it, too, in a group with a min_side above theirs.
struct MuonOptions {
  double lr = 1e-3;
  double momentum = 0.95;
  std::int64_t min_side = 16;
  double b1 = 0.9;
  double b2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 0;
  bool allow_missing = false;
  bool allow_nonfinite = false;
  bool allow_unvisited = false;
  /// Whether a parameter is updated by its orthogonal matrix.
  bool takes(const Tensor& parameter) const {
    return parameter.rank() == 2 && std::min(parameter.dim(0), parameter.dim(1)) >= min_side;
  }
  std::vector<const char*> state_names(const Tensor& parameter) const {
    return takes(parameter) ? std::vector{"m"} : std::vector{"m", "v"};
  }
  /// Throws ValueError unless min_side is above 0 and the others are as optimizers.h tells.
  void check() const;
};
/// Muon: see MuonOptions.
class Muon : public Optimizer<MuonOptions> {
 public:
  using Optimizer::Optimizer;
  const char* name() const override { return "muon"; }

 private:
  void update(OptimizerSlot& slot, const MuonOptions& options) override;
};

}  // namespace retrace

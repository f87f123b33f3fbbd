// Adafactor, an optimiser whose state is as large as the sides of its matrices.
#pragma once

#include <string_view>

#include <retrace/nn/optim/optimizer.h>

namespace retrace {

/// Adafactor (Shazeer and Stern, "Adafactor: adaptive learning rates with sublinear memory cost", 2018), as in PyTorch.
/// With rest = t^-decay and e the epsilon of the dtype, for a matrix w [n, k], and each of a tensor of higher rank:
///   r += rest (mean of g^2 in each row - r) [n], c += rest (mean of g^2 in each column - c) [k];
///   v = r c^T / max(mean(r), e).
/// For a parameter of rank below 2, v += rest (g^2 - v). Then
///   u = g / sqrt(max(v, e^2)), w = (1 - lr weight_decay) w - min(lr, 1 / sqrt(t)) max(eps, rms(w)) u / max(1, rms(u) /
///   clip),
/// where rms is the root of the mean square over the parameter, of w before this step.
struct AdafactorOptions {
  double lr = 1e-2;
  double decay = 0.8;
  double eps = 1e-3;
  double clip = 1;
  double weight_decay = 0;
  bool allow_missing = false;
  bool allow_nonfinite = false;
  bool allow_unvisited = false;
  std::vector<const char*> state_names(const Tensor& parameter) const {
    return parameter.rank() < 2 ? std::vector{"v"} : std::vector{"r", "c"};
  }
  /// That of the parameter without the axis over which the state is a mean.
  static Shape state_shape(std::string_view state, const Shape& parameter);
  /// Throws ValueError unless decay and clip are above 0 and the others are as optimizers.h tells.
  void check() const;
};
/// Adafactor: see AdafactorOptions.
class Adafactor : public Optimizer<AdafactorOptions> {
 public:
  using Optimizer::Optimizer;
  const char* name() const override { return "adafactor"; }

 private:
  void update(OptimizerSlot& slot, const AdafactorOptions& options) override;
};

}  // namespace retrace

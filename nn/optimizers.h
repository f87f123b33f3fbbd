// The optimisers. g is the gradient of a parameter w, t the number of the step, from 1. Three options permit what
// AnyOptimizer::step otherwise rejects: allow_missing, parameters without a gradient; allow_nonfinite, gradients with a
// NaN or an infinity (the weights then get them, too); allow_unvisited, parameters on the tape that belong to no
// optimiser.
#pragma once

#include <retrace/nn/optimizer.h>

namespace retrace {

/// g += weight_decay w; v = momentum v + g; w -= lr v, or with nesterov w -= lr (g + momentum v). With `lr_inside`
/// v = momentum v - lr g; w += v.
struct SgdOptions {
  double lr = 1e-2;
  double momentum = 0;
  double weight_decay = 0;
  bool nesterov = false;
  bool lr_inside = false;
  bool allow_missing = false;
  bool allow_nonfinite = false;
  bool allow_unvisited = false;
  std::vector<const char*> state_names() const { return momentum == 0 ? std::vector<const char*>{} : std::vector{"v"}; }
};
class Sgd : public Optimizer<SgdOptions> {
  using Optimizer::Optimizer;
  void update(OptimizerSlot& slot, const SgdOptions& options) override;
};

/// s = alpha s + (1 - alpha) g^2; centered: a = alpha a + (1 - alpha) g, s' = max(s - a^2, 0);
/// step = g / (sqrt(s') + eps); v = momentum v + step; w -= lr v.
struct RmsPropOptions {
  double lr = 1e-2;
  double alpha = 0.99;
  double eps = 1e-8;
  double momentum = 0;
  bool centered = false;
  bool allow_missing = false;
  bool allow_nonfinite = false;
  bool allow_unvisited = false;
  std::vector<const char*> state_names() const { return {"s", "a", "v"}; }
};
class RmsProp : public Optimizer<RmsPropOptions> {
  using Optimizer::Optimizer;
  void update(OptimizerSlot& slot, const RmsPropOptions& options) override;
};

/// s += g^2; w -= lr g / (sqrt(s) + eps).
struct AdagradOptions {
  double lr = 1e-2;
  double eps = 1e-10;
  bool allow_missing = false;
  bool allow_nonfinite = false;
  bool allow_unvisited = false;
  std::vector<const char*> state_names() const { return {"s"}; }
};
class Adagrad : public Optimizer<AdagradOptions> {
  using Optimizer::Optimizer;
  void update(OptimizerSlot& slot, const AdagradOptions& options) override;
};

/// m = b1 m + (1 - b1) g; v = b2 v + (1 - b2) g^2; w -= lr (m / (1 - b1^t)) / (sqrt(v / (1 - b2^t)) + eps). Weight
/// decay is added to g (Adam), or w *= 1 - lr weight_decay first (AdamW); amsgrad puts the largest v so far below the
/// root.
struct AdamOptions {
  double lr = 1e-3;
  double b1 = 0.9;
  double b2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 0;
  bool amsgrad = false;
  bool allow_missing = false;
  bool allow_nonfinite = false;
  bool allow_unvisited = false;
  std::vector<const char*> state_names() const {
    return amsgrad ? std::vector{"m", "v", "vmax"} : std::vector{"m", "v"};
  }
};
class Adam : public Optimizer<AdamOptions> {
  using Optimizer::Optimizer;
  void update(OptimizerSlot& slot, const AdamOptions& options) override;
};
class AdamW : public Optimizer<AdamOptions> {
  using Optimizer::Optimizer;
  void update(OptimizerSlot& slot, const AdamOptions& options) override;
};

}  // namespace retrace

// The optimisers. g is the gradient of a parameter w; t is the number of its update, from 1; lr is the learning rate.
// Three options permit what AnyOptimizer::step otherwise rejects: allow_missing permits parameters without a gradient,
// allow_nonfinite gradients with a NaN or an infinity (which the weights then get, too) or of a loss that was NaN, and
// allow_unvisited parameters on the tape that belong to no optimiser. An optimiser checks its options when it is made:
// check() throws ValueError unless lr, eps and weight_decay are finite and 0 or more, and momentum and the decays of
// averages (alpha, b1, b2) are from 0 to below 1. (Muon is in muon.h, Adafactor in adafactor.h, L-BFGS in lbfgs.h.)
#pragma once

#include <retrace/nn/optim/optimizer.h>

namespace retrace {

/// Stochastic gradient descent: g += weight_decay w; v = momentum v + g; w -= lr v, or w -= lr (g + momentum v) with
/// nesterov, as in PyTorch. With lr_inside: v = momentum v - lr g; w += v. Nesterov's form needs a momentum, and has no
/// lr inside.
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
  void check() const;
};
/// Stochastic gradient descent: see SgdOptions.
class Sgd : public Optimizer<SgdOptions> {
 public:
  using Optimizer::Optimizer;
  const char* name() const override { return "sgd"; }

 private:
  void update(OptimizerSlot& slot, const SgdOptions& options) override;
};

/// RMSProp (Hinton, 2012): g += weight_decay w; s = alpha s + (1 - alpha) g^2; v = momentum v + g / (sqrt(s) + eps);
/// w -= lr v. If centered, a = alpha a + (1 - alpha) g, and max(s - a^2, 0) takes the place of s below the root.
struct RmsPropOptions {
  double lr = 1e-2;
  double alpha = 0.99;
  double eps = 1e-8;
  double momentum = 0;
  double weight_decay = 0;
  bool centered = false;
  bool allow_missing = false;
  bool allow_nonfinite = false;
  bool allow_unvisited = false;
  std::vector<const char*> state_names() const { return {"s", "a", "v"}; }
  void check() const;
};
/// RMSProp: see RmsPropOptions.
class RmsProp : public Optimizer<RmsPropOptions> {
 public:
  using Optimizer::Optimizer;
  const char* name() const override { return "rmsprop"; }

 private:
  void update(OptimizerSlot& slot, const RmsPropOptions& options) override;
};

/// Adagrad (Duchi, Hazan and Singer, 2011): g += weight_decay w; s += g^2; w -= lr g / (sqrt(s) + eps).
struct AdagradOptions {
  double lr = 1e-2;
  double eps = 1e-10;
  double weight_decay = 0;
  bool allow_missing = false;
  bool allow_nonfinite = false;
  bool allow_unvisited = false;
  std::vector<const char*> state_names() const { return {"s"}; }
  void check() const;
};
/// Adagrad: see AdagradOptions.
class Adagrad : public Optimizer<AdagradOptions> {
 public:
  using Optimizer::Optimizer;
  const char* name() const override { return "adagrad"; }

 private:
  void update(OptimizerSlot& slot, const AdagradOptions& options) override;
};

/// Adam (Kingma and Ba, 2015) and AdamW (Loshchilov and Hutter, 2019):
///   m = b1 m + (1 - b1) g; v = b2 v + (1 - b2) g^2; w -= lr (m / (1 - b1^t)) / (sqrt(v / (1 - b2^t)) + eps).
/// Weight decay: first g += weight_decay w (Adam), or w *= 1 - lr weight_decay (AdamW). amsgrad divides by the square
/// root of the largest v so far (Reddi, Kale and Kumar, 2018).
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
  void check() const;
};
/// Adam: see AdamOptions.
class Adam : public Optimizer<AdamOptions> {
 public:
  using Optimizer::Optimizer;
  const char* name() const override { return "adam"; }

 private:
  void update(OptimizerSlot& slot, const AdamOptions& options) override;
};
/// Adam with decoupled weight decay: see AdamOptions.
class AdamW : public Optimizer<AdamOptions> {
 public:
  using Optimizer::Optimizer;
  const char* name() const override { return "adamw"; }
  /// The update of one parameter, the state of which begins with m and v.
  static void update_slot(OptimizerSlot& slot, const AdamOptions& options);

 private:
  void update(OptimizerSlot& slot, const AdamOptions& options) override;
};

/// NAdam (Dozat, "Incorporating Nesterov momentum into Adam", 2016), as in PyTorch: g += weight_decay w; with m and v
/// of Adam, b1(t) = b1 (1 - 0.96^(t momentum_decay) / 2) and p(t) = b1(1) b1(2) ... b1(t),
///   w -= lr (b1(t + 1) m / (1 - p(t + 1)) + (1 - b1(t)) g / (1 - p(t))) / (sqrt(v / (1 - b2^t)) + eps).
struct NAdamOptions {
  double lr = 2e-3;
  double b1 = 0.9;
  double b2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 0;
  double momentum_decay = 4e-3;
  bool allow_missing = false;
  bool allow_nonfinite = false;
  bool allow_unvisited = false;
  std::vector<const char*> state_names() const { return {"m", "v"}; }
  void check() const;
};
/// Adam with Nesterov's momentum: see NAdamOptions.
class NAdam : public Optimizer<NAdamOptions> {
 public:
  using Optimizer::Optimizer;
  const char* name() const override { return "nadam"; }

 private:
  void update(OptimizerSlot& slot, const NAdamOptions& options) override;
};

/// RAdam (Liu et al., "On the variance of the adaptive learning rate and beyond", 2020), as in PyTorch: g +=
/// weight_decay w; with m and v of Adam, n = 2 / (1 - b2) - 1 and n(t) = n - 2 t b2^t / (1 - b2^t),
///   w -= lr (m / (1 - b1^t)) r sqrt(1 - b2^t) / (sqrt(v) + eps),
///   r = sqrt((n(t) - 4) (n(t) - 2) n / ((n - 4) (n - 2) n(t))),
/// and w -= lr m / (1 - b1^t) as long as n(t) is at most 5: so few gradients do not tell v.
struct RAdamOptions {
  double lr = 1e-3;
  double b1 = 0.9;
  double b2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 0;
  bool allow_missing = false;
  bool allow_nonfinite = false;
  bool allow_unvisited = false;
  std::vector<const char*> state_names() const { return {"m", "v"}; }
  void check() const;
};
/// Rectified Adam: see RAdamOptions.
class RAdam : public Optimizer<RAdamOptions> {
 public:
  using Optimizer::Optimizer;
  const char* name() const override { return "radam"; }

 private:
  void update(OptimizerSlot& slot, const RAdamOptions& options) override;
};

/// Lion (Chen et al., "Symbolic discovery of optimization algorithms", 2023):
///   w -= lr (sign(b1 m + (1 - b1) g) + weight_decay w); m = b2 m + (1 - b2) g, with sign(0) = 0.
/// Its learning rate is usually 3 to 10 times smaller than Adam's, and its weight decay as many times larger.
struct LionOptions {
  double lr = 1e-4;
  double b1 = 0.9;
  double b2 = 0.99;
  double weight_decay = 0;
  bool allow_missing = false;
  bool allow_nonfinite = false;
  bool allow_unvisited = false;
  std::vector<const char*> state_names() const { return {"m"}; }
  void check() const;
};
/// Lion: see LionOptions.
class Lion : public Optimizer<LionOptions> {
 public:
  using Optimizer::Optimizer;
  const char* name() const override { return "lion"; }

 private:
  void update(OptimizerSlot& slot, const LionOptions& options) override;
};

}  // namespace retrace

// An exponential moving average of the weights, which often evaluates better than the weights themselves (Polyak and
// Juditsky, 1992; Tarvainen and Valpola, 2017).
//
//   Ema average(model, {.decay = 0.999});
//   ... adam.step(), average.update();                // in the loop
//   { const EmaScope averaged(average); evaluate(model); }  // the model has the averages until the brace
#pragma once

#include <cstdint>
#include <vector>

#include <retrace/nn/module/module.h>

namespace retrace {

/// The decay d of an average, from 0 to below 1. With `rising`, that of the update t, from 1, is min(d, t / (t + 9)),
/// so that the initial weights are soon forgotten.
struct EmaOptions {
  double decay = 0.999;
  bool rising = false;
};

/// a = d a + (1 - d) w after every step, for each parameter w, computed as a += (1 - d) (w - a), so that the average of
/// a frozen parameter is that parameter; initially a is w.
class Ema {
 public:
  /// Throws ValueError if the decay is not in [0, 1) or a parameter is undefined.
  template <Module M>
  explicit Ema(const M& module, const EmaOptions& options = {}) : Ema(parameters(module), options) {}
  explicit Ema(std::vector<NamedTensor> parameters, const EmaOptions& options = {});

  /// Takes in the weights as they are now. Throws ValueError while the averages are swapped in, and DtypeError if a
  /// parameter was converted to another dtype since; nothing is changed then.
  void update();
  /// Exchanges the weights of the model and the averages; again, to put them back. The gradients are forgotten, so call
  /// it between a step and the next backward. Throws DtypeError as update() does.
  void swap();
  bool swapped() const { return swapped_; }

  /// The averages, by the names of the parameters. While swapped, the weights.
  const std::vector<NamedTensor>& averages() const { return averages_; }
  /// Updates made so far.
  std::int64_t updates() const { return updates_; }
  /// Continues as after `updates` updates. Copy the values saved at that point into averages() first.
  void resume(std::int64_t updates) { updates_ = updates; }

 private:
  void check_dtypes() const;

  std::vector<NamedTensor> parameters_, averages_;
  EmaOptions options_;
  std::int64_t updates_ = 0;
  bool swapped_ = false;
};

/// The model has the averages from here to the end of the scope.
class EmaScope {
 public:
  explicit EmaScope(Ema& average) : average_(average) { average_.swap(); }
  EmaScope(const EmaScope&) = delete;
  EmaScope& operator=(const EmaScope&) = delete;
  ~EmaScope() { average_.swap(); }

 private:
  Ema& average_;
};

}  // namespace retrace

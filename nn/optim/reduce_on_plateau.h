// A schedule that looks at the loss instead of the step.
#pragma once

#include <cstdint>

namespace retrace {

/// Whether a metric is better when it is lower, as a loss, or higher, as an accuracy.
enum class Better { lower, higher };
/// By how much a metric has to be better: by a fraction of the best one, or by an amount.
enum class Gain { relative, absolute };

/// Called with the metric of each validation, it returns the learning rate from there on: at first base, and factor
/// times the last one, but at least `min`, whenever the metric was not better than the best for more than `patience`
/// validations in a row (ReduceLROnPlateau of PyTorch). Better is, for a loss, below best - threshold |best| or below
/// best - threshold. The validations of the `cooldown` after a reduction are not counted. NaN is never better, nor is
/// an infinite metric after the first one; but every number is better than an infinite first metric, such as a
/// perplexity that overflowed. A call and rate() throw ValueError unless factor is from 0 to below 1, and the other
/// numbers are finite and 0 or more.
///
///   ReduceOnPlateau plateau{.base = 1e-3, .factor = 0.5, .patience = 3};
///   adam.set_learning_rate(plateau(validation_loss));  // with groups: .base = 1 and scale_learning_rates
struct ReduceOnPlateau {
  union {
    double base = 1e-3;
  };
  double factor = 0.1;
  std::int64_t patience = 10;
  Better better = Better::lower;
  double threshold = 1e-4;
  Gain gain = Gain::relative;
  std::int64_t cooldown = 0;
  double min = 0;

  /// The state that the metrics so far led to, to be saved and resumed with the training.
  struct State {
    double scale = 1;  // the learning rate / base, before `min`
    double best = 0;   // the best metric, from the first one on
    bool has_best = false;
    std::int64_t without_gain = 0;   // validations
    std::int64_t cooldown_left = 0;  // validations
    bool operator==(const State&) const = default;
  };
  State state = {};

  /// The learning rate now.
  double rate() const;
  /// Takes in the metric of a validation, and returns the learning rate from there on.
  double operator()(double metric);

 private:
  void check() const;
  bool is_gain(double metric) const;
};

}  // namespace retrace

// Features on one scale.
#pragma once

#include <vector>

#include <retrace/core/tensor/tensor.h>

namespace retrace {

/// minmax: the training data's smallest value becomes 0 and its largest 1. standard: mean 0 and variance 1 (that of the
/// data themselves: divided by n).
enum class Normalisation { minmax, standard };

/// y = (x - shift) / scale, feature by feature, the last axis of x. Not recorded.
struct Normaliser {
  std::vector<double> shift;  // [I]
  std::vector<double> scale;  // [I]; 1 for a constant feature, which becomes 0

  /// Normalises x [..., I] in its own dtype; the arithmetic is done in f64. Throws ShapeError if I differs, DtypeError
  /// unless x is real.
  Tensor operator()(const Tensor& x) const;
  /// The inverse: x = y scale + shift.
  Tensor inverse(const Tensor& y) const;
};

/// Measures the data to train on, x [..., I], over all axes but the last; the result is applied to them and to all
/// others. Measure before padding: padding counts. Throws ValueError if there is no data or a feature is not finite,
/// ShapeError for rank 0, DtypeError unless x is real.
Normaliser normalise(const Tensor& x, Normalisation kind);

}  // namespace retrace

// Helpers of the tests of ops: points and slopes.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include <retrace/ops/ops.h>
#include <retrace/tests/errors.h>

namespace retrace {

inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline const double nan = std::numeric_limits<double>::quiet_NaN();

using Unary = Tensor (*)(const Tensor&);
using Binary = Tensor (*)(const Tensor&, const Tensor&);

inline Tensor number(double value, Dtype dtype = f64) { return full({}, value, dtype); }

/// The gradient of f at one number.
inline double slope(const std::function<Tensor(const Tensor&)>& f, double at, Dtype dtype = f64) {
  const Tensor x = parameter(number(at, dtype));
  Tape tape;
  tape.backward(f(x));
  return x.grad().item();
}

/// 0, 1, 2, ...
inline Tensor counted(const Shape& shape, Dtype dtype = f64) {
  return reshape(arange(0, static_cast<double>(shape.numel()), 1, dtype), shape);
}

/// Distinct numbers, away from the kinks of all ops.
inline Tensor distinct(const Shape& shape, double first) {
  Tensor x = empty(shape, f64);
  double next = first;
  for (double& value : x.mutable_values<double>()) {
    value = std::abs(std::sin(next)) + 0.3;
    next += 1.7;
  }
  return x;
}

}  // namespace retrace

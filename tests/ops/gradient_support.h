// Helpers of the tests of ops: finite differences, and messages of errors.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>

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

inline double weighted_sum(const Tensor& y, const Tensor& weights) {
  double sum = 0;
  for (std::size_t k = 0; k < y.values<double>().size(); ++k)
    sum += y.values<double>()[k] * weights.values<double>()[k];
  return sum;
}

/// Compares the gradient of <weights, f()> with finite differences, for every element of x.
inline void expect_gradient(const Tensor& x, const std::function<Tensor()>& f, const std::string& what) {
  const Tensor weights = distinct(f().shape(), 0.4);
  x.zero_grad();
  {
    Tape tape;
    tape.backward({f()}, {weights});
  }
  const Tensor gradient = x.grad();
  for (std::size_t k = 0; k < x.values<double>().size(); ++k) {
    const double at = x.values<double>()[k];
    const double step = 1e-5;
    x.mutable_values<double>()[k] = at + step;
    const double above = weighted_sum(f(), weights);
    x.mutable_values<double>()[k] = at - step;
    const double below = weighted_sum(f(), weights);
    x.mutable_values<double>()[k] = at;
    const double difference = (above - below) / (2 * step);
    EXPECT_NEAR(gradient.values<double>()[k], difference, 1e-6 * (1 + std::abs(difference)))
        << what << ", element " << k;
  }
  x.zero_grad();
}

}  // namespace retrace

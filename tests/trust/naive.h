// A naive interpreter's numbers and arrays: loops over indices, and slopes by the rules of differentiation. It shares
// nothing with the library that it is compared with.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

namespace retrace::naive {

/// A value and its slope along one direction.
struct Number {
  double value = 0, slope = 0;
  Number(double v = 0, double s = 0) : value(v), slope(s) {}
};
inline Number operator+(Number a, Number b) { return {a.value + b.value, a.slope + b.slope}; }
inline Number operator-(Number a, Number b) { return {a.value - b.value, a.slope - b.slope}; }
inline Number operator*(Number a, Number b) { return {a.value * b.value, a.slope * b.value + a.value * b.slope}; }
inline Number operator/(Number a, Number b) {
  return {a.value / b.value, (a.slope - a.value / b.value * b.slope) / b.value};
}
/// f(x), with the derivative f'(x).
inline Number chain(Number x, double value, double derivative) { return {value, derivative * x.slope}; }
inline Number exp(Number x) { return chain(x, std::exp(x.value), std::exp(x.value)); }
inline Number log(Number x) { return chain(x, std::log(x.value), 1 / x.value); }
inline Number sqrt(Number x) { return chain(x, std::sqrt(x.value), 0.5 / std::sqrt(x.value)); }
inline Number sigmoid(Number x) { return Number(1) / (Number(1) + exp(Number(0) - x)); }
inline Number tanh(Number x) { return Number(2) * sigmoid(Number(2) * x) - 1; }
inline Number erf(Number x) { return chain(x, std::erf(x.value), 2 / std::sqrt(M_PI) * std::exp(-x.value * x.value)); }

/// How near the values came to a point where a function jumps or bends: there, rounding decides.
inline thread_local double nearest_kink = std::numeric_limits<double>::infinity();
/// a > b.
inline bool above(Number a, Number b) {
  nearest_kink = std::min(nearest_kink, std::abs(a.value - b.value));
  return a.value > b.value;
}
/// Requires a condition under which a function is smooth.
inline void require(bool smooth) {
  if (!smooth) nearest_kink = 0;
}

using Extents = std::vector<std::int64_t>;

inline std::int64_t count(const Extents& shape) {
  std::int64_t result = 1;
  for (const std::int64_t extent : shape) result *= extent;
  return result;
}

/// Numbers in row-major order.
struct Array {
  Extents shape;
  std::vector<Number> at;

  /// The element of an index; leading positions that the array lacks, and axes of length 1, are broadcast.
  Number operator[](const Extents& index) const {
    std::int64_t place = 0;
    const std::size_t skipped = index.size() - shape.size();
    for (std::size_t k = 0; k < shape.size(); ++k) place = place * shape[k] + (shape[k] == 1 ? 0 : index[k + skipped]);
    return at[static_cast<std::size_t>(place)];
  }
  std::int64_t rank() const { return std::ssize(shape); }
};
using Arrays = std::vector<Array>;

/// The array of this shape whose elements are f(index).
inline Array fill(const Extents& shape, const std::function<Number(const Extents& index)>& f) {
  Array result{shape, {}};
  Extents index(shape.size(), 0);
  for (std::int64_t k = 0; k < count(shape); ++k) {
    std::int64_t rest = k;
    for (std::size_t axis = shape.size(); axis-- > 0; rest /= shape[axis]) index[axis] = rest % shape[axis];
    result.at.push_back(f(index));
  }
  return result;
}

inline Extents broadcast(const Extents& a, const Extents& b) {
  Extents result(std::max(a.size(), b.size()), 1);
  for (const Extents* shape : {&a, &b})
    for (std::size_t k = 0; k < shape->size(); ++k) {
      std::int64_t& extent = result[result.size() - shape->size() + k];
      if ((*shape)[k] != 1) extent = (*shape)[k];
    }
  return result;
}

inline Extents with(Extents index, std::size_t axis, std::int64_t position) {
  index[axis] = position;
  return index;
}
inline Extents without(Extents index, std::size_t axis) {
  index.erase(index.begin() + static_cast<std::ptrdiff_t>(axis));
  return index;
}
inline Extents inserted(Extents index, std::size_t axis, std::int64_t position) {
  index.insert(index.begin() + static_cast<std::ptrdiff_t>(axis), position);
  return index;
}

using Line = std::vector<Number>;
/// The elements along an axis through an index.
inline Line line(const Array& x, const Extents& index, std::size_t axis) {
  Line result;
  for (std::int64_t k = 0; k < x.shape[axis]; ++k) result.push_back(x[with(index, axis, k)]);
  return result;
}
/// Replaces each line along the axis by f(line), of the same length.
inline Array along(const Array& x, std::size_t axis, const std::function<Line(const Line&)>& f) {
  return fill(x.shape,
              [&](const Extents& index) { return f(line(x, index, axis))[static_cast<std::size_t>(index[axis])]; });
}
/// Reduces each line along the axis to f(line); the axis stays with length 1.
inline Array reduce(const Array& x, std::size_t axis, const std::function<Number(const Line&)>& f) {
  return fill(with(x.shape, axis, 1), [&](const Extents& index) { return f(line(x, index, axis)); });
}

inline Number total(const Line& x) {
  Number result;
  for (const Number& each : x) result = result + each;
  return result;
}
inline Number average(const Line& x) { return total(x) / static_cast<double>(x.size()); }
inline Number spread(const Line& x) {
  const Number mean = average(x);
  Number result;
  for (const Number& each : x) result = result + (each - mean) * (each - mean);
  return result / static_cast<double>(x.size());
}
inline Number largest(const Line& x) {
  Number result = x.front();
  for (std::size_t k = 1; k < x.size(); ++k)
    if (above(x[k], result)) result = x[k];
  return result;
}
inline Number log_sum_exp(const Line& x) {
  double shift = -std::numeric_limits<double>::infinity();
  for (const Number& each : x) shift = std::max(shift, each.value);
  Number sum;
  for (const Number& each : x) sum = sum + exp(each - shift);
  return log(sum) + shift;
}

}  // namespace retrace::naive

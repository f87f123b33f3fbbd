#include <retrace/nn/initialise.h>

#include <cmath>
#include <vector>

namespace retrace {
namespace {

double fans(const Shape& shape, const char* function) {
  if (shape.rank() != 2)
    throw ShapeError(text(function, ": ", shape, " is not [fan_out, fan_in]; initialise matrices, and reshape after"));
  check_memory(function, "a tensor", shape);
  return static_cast<double>(shape[0] + shape[1]);
}

using Vector = std::vector<double>;

double dot(const Vector& a, const Vector& b) {
  double sum = 0;
  for (std::size_t k = 0; k < a.size(); ++k) sum += a[k] * b[k];
  return sum;
}

// The Gram-Schmidt process, applied twice: the error of a single pass grows with the condition number.
void make_orthogonal(Vector& vector, const std::vector<Vector>& earlier) {
  for (int pass = 0; pass < 2; ++pass)
    for (const Vector& other : earlier) {
      const double along = dot(vector, other);
      for (std::size_t k = 0; k < vector.size(); ++k) vector[k] -= along * other[k];
    }
  const double length = std::sqrt(dot(vector, vector));
  for (double& element : vector) element /= length;
}

}  // namespace

Shape parameter_shape(const char* layer, std::string_view parameter, std::initializer_list<std::int64_t> extents) {
  for (const std::int64_t extent : extents)
    if (extent < 0)
      throw ShapeError(text(layer, ": ", parameter, " would have an extent of ", extent, "; sizes are 0 or more"));
  const Shape shape(extents);
  check_memory(layer, parameter, shape);
  return shape;
}

Tensor glorot_uniform(const Shape& shape, Random& random) {
  const double limit = std::sqrt(6 / fans(shape, "glorot_uniform"));
  return random.uniform(shape, -limit, limit);
}

Tensor glorot_normal(const Shape& shape, Random& random) {
  return random.normal(shape, 0, std::sqrt(2 / fans(shape, "glorot_normal")));
}

Tensor orthogonal(std::int64_t rows, std::int64_t columns, Random& random, double gain) {
  checked_size("orthogonal", "rows", rows), checked_size("orthogonal", "columns", columns);
  check_memory("orthogonal", "a matrix", {rows, columns}, f64);
  const bool wide = rows <= columns;
  std::vector<Vector> basis;
  for (std::int64_t n = 0; n < (wide ? rows : columns); ++n) {
    Vector vector(static_cast<std::size_t>(wide ? columns : rows));
    for (double& element : vector) element = random.normal();
    make_orthogonal(vector, basis);
    basis.push_back(std::move(vector));
  }
  Vector values(static_cast<std::size_t>(rows * columns));
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j) {
      const std::size_t vector = static_cast<std::size_t>(wide ? i : j),
                        element = static_cast<std::size_t>(wide ? j : i);
      values[static_cast<std::size_t>(i * columns + j)] = gain * basis[vector][element];
    }
  return tensor(std::span<const double>(values), {rows, columns});
}

Tensor truncated_normal(const Shape& shape, double deviation, Random& random) {
  check_memory("truncated_normal", "a tensor", shape, f64);
  Vector values(static_cast<std::size_t>(shape.numel()));
  for (double& value : values) {
    do value = random.normal();
    while (std::abs(value) > 2);
    value *= deviation;
  }
  return tensor(std::span<const double>(values), shape);
}

}  // namespace retrace

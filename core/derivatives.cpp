#include <retrace/core/derivatives.h>

#include <retrace/core/tape.h>

namespace retrace {
namespace {

double number(const Tensor& x, std::size_t k) {
  return dispatch_any(x.dtype(), [&](auto zero) { return static_cast<double>(x.values<decltype(zero)>()[k]); });
}

void check_direction(const char* function, const Shape& of, const Tensor& direction) {
  if (direction.shape() != of)
    throw ShapeError(text(function, ": the direction ", direction, " must have the shape ", of, "; reshape it"));
}

// x + e v
Tensor moving(const char* function, const Tensor& x, const Tensor& v) {
  check_defined(function, x, "x");
  check_defined(function, v, "v");
  check_direction(function, x.shape(), v);
  Tensor result = empty(x.shape(), dual);
  std::size_t k = 0;
  for (Dual& element : result.mutable_values<Dual>()) {
    element = {number(x, k), number(v, k)};
    ++k;
  }
  return result;
}

Tensor tangent_of(const Tensor& y) {
  Tensor result = zeros(y.shape(), f64);
  if (y.dtype() != dual) return result;  // a constant
  std::size_t k = 0;
  for (double& element : result.mutable_values<double>()) element = y.values<Dual>()[k++].tangent;
  return result;
}

}  // namespace

Tensor jvp(const TensorFunction& f, const Tensor& x, const Tensor& v) {
  const NoTape no_tape;
  return tangent_of(f(moving("jvp", x, v)));
}

Tensor vjp(const TensorFunction& f, const Tensor& x, const Tensor& u) {
  check_defined("vjp", x, "x");
  check_defined("vjp", u, "u");
  const Tensor leaf = parameter(x);
  Tape tape;
  const Tensor y = f(leaf);
  check_direction("vjp", y.shape(), u);
  if (!y.wants_gradient()) return zeros_like(x);
  tape.backward(Tensors{y}, Tensors{u});
  return leaf.has_grad() ? leaf.grad().detach() : zeros_like(x);
}

Tensor hvp(const TensorFunction& f, const Tensor& x, const Tensor& v) {
  const Tensor leaf = parameter(moving("hvp", x, v));
  Tape tape;
  const Tensor y = f(leaf);
  if (!y.wants_gradient()) return zeros(x.shape(), f64);
  tape.backward(y);
  return leaf.has_grad() ? tangent_of(leaf.grad()) : zeros(x.shape(), f64);
}

Tensor jacobian(const TensorFunction& f, const Tensor& x) {
  check_defined("jacobian", x, "x");
  const std::int64_t columns = x.numel();
  Tensor result, direction = zeros(x.shape(), f64);
  for (std::int64_t column = 0; column < columns; ++column) {
    const std::size_t i = static_cast<std::size_t>(column);
    direction.mutable_values<double>()[i] = 1;
    const Tensor tangent = jvp(f, x, direction);
    direction.mutable_values<double>()[i] = 0;
    if (!result.defined()) result = empty({tangent.numel(), columns}, f64);
    for (std::int64_t row = 0; row < tangent.numel(); ++row)
      result.mutable_values<double>()[static_cast<std::size_t>(row * columns + column)] =
          tangent.values<double>()[static_cast<std::size_t>(row)];
  }
  if (result.defined()) return result;
  const NoTape no_tape;
  return zeros({f(x).numel(), 0}, f64);
}

Tensor numerical_gradient(const TensorFunction& f, const Tensor& x, double step) {
  check_defined("numerical_gradient", x, "x");
  const NoTape no_tape;
  Tensor point = empty(x.shape(), f64);
  for (std::size_t k = 0; k < static_cast<std::size_t>(x.numel()); ++k)
    point.mutable_values<double>()[k] = number(x, k);
  Tensor result = empty(x.shape(), f64);
  for (std::size_t k = 0; k < static_cast<std::size_t>(x.numel()); ++k) {
    const double here = point.values<double>()[k];
    point.mutable_values<double>()[k] = here + step;
    const double above = f(point).item();
    point.mutable_values<double>()[k] = here - step;
    const double below = f(point).item();
    point.mutable_values<double>()[k] = here;
    result.mutable_values<double>()[k] = (above - below) / (2 * step);
  }
  return result;
}

}  // namespace retrace

#include <retrace/core/checks/derivatives.h>

#include <algorithm>

#include <retrace/core/checks/leaves.h>
#include <retrace/core/tape/tape.h>

namespace retrace {
namespace {

void check_direction(const char* function, const Shape& of, const Tensor& direction) {
  if (direction.shape() != of)
    throw ShapeError(text(function, ": the direction ", direction, " must have the shape ", of, "; reshape it"));
}

void check_directions(const char* function, const Tensors& of, const Tensors& directions) {
  if (directions.size() != of.size())
    throw ValueError(text(function, ": ", directions.size(), " directions for ", of.size(),
                          " tensors; give one for each (an undefined tensor for zero)"));
  for (std::size_t k = 0; k < of.size(); ++k)
    if (directions[k].defined()) check_direction(function, of[k].shape(), directions[k]);
}

// Lets the leaves move in these directions.
void put_tangents(std::vector<ReplacedLeaf>& leaves, const Tensors& directions) {
  for (std::size_t k = 0; k < leaves.size(); ++k)
    leaves[k].put(with_tangent(leaves[k].original(), directions.empty() ? Tensor() : directions[k]));
}

// One backward, which leaves the gradients of leaves that are not among these as they were.
void walk_back(Tape& tape, const Tensor& y, const Tensor& u, const Tensors& leaves) {
  const std::vector<ReplacedLeaf> others = replaced(other_leaves(tape, leaves));
  tape.backward(Tensors{y}, Tensors{u});
}

// ---- with respect to leaves

Tensor jvp_of(const LeafFunction& f, const Tensors& leaves, const Tensors& v) {
  std::vector<ReplacedLeaf> moving = replaced(leaves);
  put_tangents(moving, v);
  const NoTape no_tape;
  return tangent_of(f());
}

Tensors vjp_of(const LeafFunction& f, const Tensors& leaves, const Tensor& u) {
  const std::vector<ReplacedLeaf> kept = replaced(leaves);
  Tape tape;
  const Tensor y = f();
  check_direction("vjp", y.shape(), u);
  if (y.wants_gradient()) walk_back(tape, y, u.dtype() == y.dtype() ? u : u.to(y.dtype()), leaves);
  return gradients_of(leaves);
}

// The gradients of u.f on dual numbers, with leaves that move in the directions v (none: they stand still).
Tensors dual_gradients(const char* function, const LeafFunction& f, const Tensors& leaves, const Tensors& v,
                       const std::function<Tensor(const Tensor& y)>& cotangent) {
  std::vector<ReplacedLeaf> moving = replaced(leaves);
  put_tangents(moving, v);
  Tape tape;
  const Tensor y = f();
  if (y.dtype() == i64) throw DtypeError(text(function, ": f gave i64, which has no derivative"));
  if (y.wants_gradient()) walk_back(tape, y, cotangent(y), leaves);
  return gradients_of(leaves);
}

Tensors hvp_of(const LeafFunction& f, const Tensors& leaves, const Tensors& v) {
  Tensors result;
  for (const Tensor& gradient : dual_gradients("hvp", f, leaves, v, [](const Tensor& y) {
         check_scalar("hvp", y);
         return ones_like(y);
       }))
    result.push_back(tangent_of(gradient));
  return result;
}

std::int64_t count(const Tensors& leaves) {
  std::int64_t total = 0;
  for (const Tensor& leaf : leaves) total += leaf.numel();
  return total;
}

// Calls column(k, direction) for each of the elements of all leaves, in order, with the unit vector of element k.
template <class Column> void for_each_direction(const Tensors& leaves, Column&& column) {
  Tensors direction;
  for (const Tensor& leaf : leaves) direction.push_back(zeros(leaf.shape(), f64));
  std::int64_t k = 0;
  for (const Tensor& part : direction)
    for (std::size_t i = 0; i < static_cast<std::size_t>(part.numel()); ++i) {
      part.mutable_values<double>()[i] = 1;
      column(k++, direction);
      part.mutable_values<double>()[i] = 0;
    }
}

void put_column(const Tensor& matrix, std::int64_t column, const Tensor& numbers, std::int64_t first_row = 0) {
  const std::int64_t columns = matrix.dim(1);
  const auto elements = matrix.mutable_values<double>();
  for (std::int64_t row = 0; row < numbers.numel(); ++row)
    elements[static_cast<std::size_t>((first_row + row) * columns + column)] =
        numbers.values<double>()[static_cast<std::size_t>(row)];
}

Tensor jacobian_by_rows(const LeafFunction& f, const Tensors& leaves, std::int64_t rows) {
  const Tensor result = zeros({rows, count(leaves)}, f64);
  double* element = result.mutable_values<double>().data();
  for (std::int64_t row = 0; row < rows; ++row)
    for (const Tensor& gradient : dual_gradients("jacobian", f, leaves, {}, [row](const Tensor& y) {
           const Tensor u = zeros_like(y);
           if (y.dtype() == dual) u.mutable_values<Dual>()[static_cast<std::size_t>(row)] = 1;
           return u;
         }))
      for (std::int64_t k = 0; k < gradient.numel(); ++k) *element++ = number_at(gradient, k);
  return result;
}

Tensor jacobian_of(const LeafFunction& f, const Tensors& leaves) {
  const std::int64_t columns = count(leaves), rows = [&] {
    const NoTape no_tape;
    return f().numel();
  }();
  if (rows < columns) return jacobian_by_rows(f, leaves, rows);
  const Tensor result = zeros({rows, columns}, f64);
  for_each_direction(leaves, [&](std::int64_t column, const Tensors& direction) {
    put_column(result, column, jvp_of(f, leaves, direction));
  });
  return result;
}

Tensor hessian_of(const LeafFunction& f, const Tensors& leaves) {
  const std::int64_t size = count(leaves);
  const Tensor result = zeros({size, size}, f64);
  for_each_direction(leaves, [&](std::int64_t column, const Tensors& direction) {
    std::int64_t first_row = 0;
    for (const Tensor& part : hvp_of(f, leaves, direction)) {
      put_column(result, column, part, first_row);
      first_row += part.numel();
    }
  });
  return result;
}

TensorsFunction of_first(const TensorFunction& f) {
  return [&f](const Tensors& x) { return f(x[0]); };
}

}  // namespace

Tensor jvp(const LeafFunction& f, const Tensors& leaves, const Tensors& v) {
  check_leaves("jvp", leaves);
  check_directions("jvp", leaves, v);
  return jvp_of(f, leaves, v);
}
Tensor jvp(const TensorsFunction& f, const Tensors& x, const Tensors& v) {
  const Tensors leaves = leaves_like("jvp", x);
  check_directions("jvp", leaves, v);
  return jvp_of([&] { return f(leaves); }, leaves, v);
}
Tensor jvp(const TensorFunction& f, const Tensor& x, const Tensor& v) {
  check_defined("jvp", v, "v");
  return jvp(of_first(f), Tensors{x}, Tensors{v});
}

Tensors vjp(const LeafFunction& f, const Tensors& leaves, const Tensor& u) {
  check_leaves("vjp", leaves);
  check_defined("vjp", u, "u");
  return vjp_of(f, leaves, u);
}
Tensors vjp(const TensorsFunction& f, const Tensors& x, const Tensor& u) {
  const Tensors leaves = leaves_like("vjp", x);
  check_defined("vjp", u, "u");
  return vjp_of([&] { return f(leaves); }, leaves, u);
}
Tensor vjp(const TensorFunction& f, const Tensor& x, const Tensor& u) { return vjp(of_first(f), Tensors{x}, u)[0]; }

Tensors hvp(const LeafFunction& f, const Tensors& leaves, const Tensors& v) {
  check_leaves("hvp", leaves);
  check_directions("hvp", leaves, v);
  return hvp_of(f, leaves, v);
}
Tensors hvp(const TensorsFunction& f, const Tensors& x, const Tensors& v) {
  const Tensors leaves = leaves_like("hvp", x);
  check_directions("hvp", leaves, v);
  return hvp_of([&] { return f(leaves); }, leaves, v);
}
Tensor hvp(const TensorFunction& f, const Tensor& x, const Tensor& v) {
  check_defined("hvp", v, "v");
  return hvp(of_first(f), Tensors{x}, Tensors{v})[0];
}

Tensor jacobian(const LeafFunction& f, const Tensors& leaves) {
  check_leaves("jacobian", leaves);
  return jacobian_of(f, leaves);
}
Tensor jacobian(const TensorsFunction& f, const Tensors& x) {
  const Tensors leaves = leaves_like("jacobian", x);
  return jacobian_of([&] { return f(leaves); }, leaves);
}
Tensor jacobian(const TensorFunction& f, const Tensor& x) { return jacobian(of_first(f), Tensors{x}); }

Tensor hessian(const LeafFunction& f, const Tensors& leaves) {
  check_leaves("hessian", leaves);
  return hessian_of(f, leaves);
}
Tensor hessian(const TensorsFunction& f, const Tensors& x) {
  const Tensors leaves = leaves_like("hessian", x);
  return hessian_of([&] { return f(leaves); }, leaves);
}
Tensor hessian(const TensorFunction& f, const Tensor& x) { return hessian(of_first(f), Tensors{x}); }

Tensor numerical_gradient(const TensorFunction& f, const Tensor& x, double step) {
  check_defined("numerical_gradient", x, "x");
  const NoTape no_tape;
  const Tensor point = empty(x.shape(), f64), result = empty(x.shape(), f64);
  for (std::int64_t k = 0; k < x.numel(); ++k) {
    const std::size_t i = static_cast<std::size_t>(k);
    point.mutable_values<double>()[i] = number_at(x, k);
  }
  for (std::size_t i = 0; i < static_cast<std::size_t>(x.numel()); ++i) {
    const double here = point.values<double>()[i];
    point.mutable_values<double>()[i] = here + step;
    const double above = f(point).item();
    point.mutable_values<double>()[i] = here - step;
    const double below = f(point).item();
    point.mutable_values<double>()[i] = here;
    result.mutable_values<double>()[i] = (above - below) / (2 * step);
  }
  return result;
}

}  // namespace retrace

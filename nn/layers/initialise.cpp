#include <retrace/core/base/threads_scope.h>
#include <retrace/nn/layers/initialise.h>
#include <retrace/ops/ops.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

namespace retrace {
namespace {

double fans(const Shape& shape, const char* function) {
  if (shape.rank() != 2)
    throw ShapeError(text(function, ": ", shape, " is not [fan_out, fan_in]; initialise matrices, and reshape after"));
  check_memory(function, "a tensor", shape);
  return static_cast<double>(shape[0] + shape[1]);
}

using Row = std::span<double>;

double dot(Row a, Row b) {
  double sum = 0;
  for (std::size_t k = 0; k < a.size(); ++k) sum += a[k] * b[k];
  return sum;
}

// The Gram-Schmidt process. A single pass leaves an error that grows with the condition number; two do not.
void make_orthogonal(const Tensor& rows, int passes) {
  const auto columns = static_cast<std::size_t>(rows.dim(1));
  rows.update<double>([=](Row all) {
    for (std::size_t n = 0; n < all.size(); n += columns) {
      const Row row = all.subspan(n, columns);
      for (int pass = 0; pass < passes; ++pass)
        for (std::size_t m = 0; m < n; m += columns) {
          const Row other = all.subspan(m, columns);
          const double along = dot(row, other);
          for (std::size_t k = 0; k < columns; ++k) row[k] -= along * other[k];
        }
      const double length = std::sqrt(dot(row, row));
      for (double& element : row) element /= length;
    }
  });
}

// The same for many rows, a block at a time: what a block has along all earlier rows is a product of matrices, too
// narrow for several threads.
void make_orthogonal_by_blocks(const Tensor& rows) {
  constexpr std::int64_t small = 128, block = 16;
  if (rows.dim(0) <= small) return make_orthogonal(rows, 2);
  const ThreadsScope one_thread(1);
  const std::int64_t columns = rows.dim(1);
  for (std::int64_t begin = 0; begin < rows.dim(0); begin += block) {
    const std::int64_t count = std::min(block, rows.dim(0) - begin);
    const Tensor earlier = view(rows, {begin, columns}), own = view(rows, {count, columns}, begin * columns);
    for (int pass = 0; pass < 2; ++pass) {
      const Tensor projection = matmul(matmul(own, earlier, {.transpose_b = true}), earlier);
      own.update<double>([along = projection.values<double>()](Row rest) {
        for (std::size_t k = 0; k < rest.size(); ++k) rest[k] -= along[k];
      });
      make_orthogonal(own, 1);
    }
  }
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
  if (!random.draws()) return random.normal({rows, columns});
  check_memory("orthogonal", "a matrix", {rows, columns}, f64);
  const NoTape no_tape;
  const bool wide = rows <= columns;
  const Tensor basis = random.normal({std::min(rows, columns), std::max(rows, columns)}, f64);
  make_orthogonal_by_blocks(basis);
  basis.update<double>([=](Row values) {
    for (double& value : values) value *= gain;
  });
  return to(wide ? basis : transpose(basis), default_dtype());
}

Tensor truncated_normal(const Shape& shape, double deviation, Random& random) {
  if (!random.draws()) return random.normal(shape);
  check_memory("truncated_normal", "a tensor", shape, f64);
  std::vector<double> values(static_cast<std::size_t>(shape.numel()));
  for (double& value : values) {
    do value = random.normal();
    while (std::abs(value) > 2);
    value *= deviation;
  }
  return tensor(std::span<const double>(values), shape);
}

}  // namespace retrace

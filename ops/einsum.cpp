// einsum, of other ops: each operand is multiplied with the product of those before it. Of the labels of both, those
// that are needed later stay (a batch), and the others are summed, as the inner axes of a matrix product.
#include <retrace/ops/loops/einsum_equation.h>
#include <retrace/ops/op.h>

namespace retrace {
namespace {

/// A tensor and what its axes are called.
struct Labelled {
  Tensor x;
  AxisLabels labels;

  int axis_of(AxisLabel label) const {
    return static_cast<int>(std::find(labels.begin(), labels.end(), label) - labels.begin());
  }
  std::int64_t length(AxisLabel label) const { return x.dim(axis_of(label)); }
};

Tensor reshaped(const Tensor& x, const Shape& shape) { return x.shape() == shape ? x : reshape(x, shape); }

std::int64_t elements(const Labelled& a, const AxisLabels& labels) {
  std::int64_t count = 1;
  for (const AxisLabel label : labels) count *= a.length(label);
  return count;
}

AxisLabels joined(const AxisLabels& a, const AxisLabels& b) {
  AxisLabels result = a;
  result.insert(result.end(), b.begin(), b.end());
  return result;
}

Labelled arranged(const Labelled& a, const AxisLabels& order) {
  if (a.labels == order) return a;
  std::vector<int> permutation;
  for (const AxisLabel label : order) permutation.push_back(a.axis_of(label));
  return {transpose(a.x, permutation), order};
}

/// Takes the diagonals of labels that occur twice: the elements 0, n + 1, 2 (n + 1), ... of [n, n].
Labelled with_diagonals(Labelled a) {
  for (std::size_t k = 0; k < a.labels.size(); ++k) {
    const AxisLabel label = a.labels[k];
    const auto again = std::find(a.labels.begin() + static_cast<std::ptrdiff_t>(k) + 1, a.labels.end(), label);
    if (again == a.labels.end()) continue;
    const int second = static_cast<int>(again - a.labels.begin());
    std::vector<int> permutation{static_cast<int>(k), second};
    AxisLabels rest{label};
    for (int axis = 0; axis < a.x.rank(); ++axis) {
      if (axis == permutation[0] || axis == second) continue;
      permutation.push_back(axis);
      rest.push_back(a.labels[static_cast<std::size_t>(axis)]);
    }
    const std::int64_t n = a.length(label);
    const Tensor square = transpose(a.x, permutation);
    a = {slice(reshape(square, square.shape().erased(0).replaced(0, n * n)), {range(0, n * n, n + 1)}), rest};
    k = static_cast<std::size_t>(-1);  // the axes have moved
  }
  return a;
}

/// Sums over the labels that do not stay.
template <class Stays> Labelled summed(const Labelled& a, Stays&& stays) {
  std::vector<int> axes;
  AxisLabels rest;
  for (std::size_t axis = 0; axis < a.labels.size(); ++axis)
    if (stays(a.labels[axis]))
      rest.push_back(a.labels[axis]);
    else
      axes.push_back(static_cast<int>(axis));
  return axes.empty() ? a : Labelled{sum(a.x, Axes(std::span<const int>(axes))), rest};
}

/// The labels of two operands by what becomes of them.
struct Roles {
  AxisLabels batch, inner, of_a, of_b;
};

template <class Needed> Roles roles_of(const Labelled& a, const Labelled& b, Needed&& needed) {
  Roles roles;
  for (const AxisLabel label : a.labels)
    (!contains(b.labels, label) ? roles.of_a : needed(label) ? roles.batch : roles.inner).push_back(label);
  for (const AxisLabel label : b.labels)
    if (!contains(a.labels, label)) roles.of_b.push_back(label);
  return roles;
}

/// The shape of a whose batch and own axes stand between axes of length 1 for those that it does not have.
Shape with_gaps(const Labelled& a, const AxisLabels& all) {
  std::vector<std::int64_t> lengths;
  for (const AxisLabel label : all) lengths.push_back(contains(a.labels, label) ? a.length(label) : 1);
  return Shape(lengths);
}

Labelled elementwise_product(const Labelled& a, const Labelled& b, const Roles& roles) {
  const AxisLabels y = joined(joined(roles.batch, roles.of_a), roles.of_b);
  const Labelled left = arranged(a, joined(roles.batch, roles.of_a)),
                 right = arranged(b, joined(roles.batch, roles.of_b));
  const Tensor left_x = roles.of_b.empty() ? left.x : reshaped(left.x, with_gaps(left, y));
  const Tensor right_x = roles.of_a.empty() ? right.x : reshaped(right.x, with_gaps(right, y));
  return {mul(left_x, right_x), y};
}

/// Repeats axes of length 1 of the batch, so that both operands have all of it.
Labelled with_whole_batch(const Labelled& a, const Labelled& b, const AxisLabels& batch) {
  Shape shape = a.x.shape();
  for (const AxisLabel label : batch)
    if (a.length(label) == 1) shape = shape.replaced(a.axis_of(label), b.length(label));
  return shape == a.x.shape() ? a : Labelled{broadcast_to(a.x, shape), a.labels};
}

/// As matrices [batch, rows, columns]; no batch axis if there is none.
Tensor as_matrices(const Labelled& a, const AxisLabels& batch, const AxisLabels& rows, const AxisLabels& columns) {
  const Labelled in_order = arranged(a, joined(joined(batch, rows), columns));
  const Shape matrix{elements(a, rows), elements(a, columns)};
  return reshaped(in_order.x, batch.empty() ? matrix : Shape{elements(a, batch), matrix[0], matrix[1]});
}

/// A matrix product per element of the batch. matmul transposes an operand whose axes lie that way.
Labelled matrix_product(const Labelled& narrow_a, const Labelled& narrow_b, const Roles& roles) {
  const auto& [batch, inner, of_a, of_b] = roles;
  const Labelled a = with_whole_batch(narrow_a, narrow_b, batch), b = with_whole_batch(narrow_b, a, batch);
  const bool transpose_a = !of_a.empty() && a.labels == joined(joined(batch, inner), of_a);
  const bool transpose_b = of_b.empty() || b.labels != joined(joined(batch, inner), of_b);
  const Tensor left = transpose_a ? as_matrices(a, batch, inner, of_a) : as_matrices(a, batch, of_a, inner);
  const Tensor right = transpose_b ? as_matrices(b, batch, of_b, inner) : as_matrices(b, batch, inner, of_b);
  const Tensor y = matmul(left, right, {.transpose_a = transpose_a, .transpose_b = transpose_b});
  std::vector<std::int64_t> lengths;
  for (const AxisLabel label : joined(batch, of_a)) lengths.push_back(a.length(label));
  for (const AxisLabel label : of_b) lengths.push_back(b.length(label));
  return {reshaped(y, Shape(lengths)), joined(joined(batch, of_a), of_b)};
}

/// a b, summed over the labels that are not needed.
template <class Needed> Labelled product(const Labelled& a, const Labelled& b, Needed&& needed) {
  // An axis that one operand repeats cannot be inner: it is summed before.
  const auto stays = [&](AxisLabel label) {
    if (needed(label)) return true;
    return contains(a.labels, label) && contains(b.labels, label) && a.length(label) == b.length(label);
  };
  const Labelled left = summed(a, stays), right = summed(b, stays);
  const Roles roles = roles_of(left, right, needed);
  return roles.inner.empty() ? elementwise_product(left, right, roles) : matrix_product(left, right, roles);
}

void check_operands(const Tensors& operands) {
  if (operands.empty()) throw ValueError("einsum: there is no operand; give one per group of the equation");
  for (std::size_t k = 0; k < operands.size(); ++k) check_defined("einsum", operands[k], text("x", k).c_str());
  for (std::size_t k = 0; k < operands.size(); ++k) {
    check_real("einsum", operands[k], text("x", k).c_str());
    check_dtypes("einsum", operands[0], operands[k], "x0", text("x", k).c_str());
  }
}

}  // namespace

Tensor einsum(std::string_view equation, const Tensors& operands) {
  check_operands(operands);
  const EinsumEquation read = parse_einsum(equation, operands);
  Labelled total;
  for (std::size_t k = 0; k < operands.size(); ++k) {
    const auto needed = [&](AxisLabel label) { return read.needs_after(k, label); };
    const Labelled next = with_diagonals({operands[k], read.operands[k]});
    total = k == 0 ? summed(next, needed) : product(total, next, needed);
  }
  return arranged(total, read.y).x;
}

}  // namespace retrace

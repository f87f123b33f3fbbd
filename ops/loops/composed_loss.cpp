#include <retrace/ops/loops/composed_loss.h>

#include <retrace/ops/loops/weighted_targets.h>
#include <retrace/ops/op.h>

namespace retrace {

void check_alike(const char* function, std::initializer_list<NamedOperand> operands) {
  check_defined(function, operands);
  const NamedOperand& first = *operands.begin();
  for (const NamedOperand& other : operands) {
    if (other.tensor->shape() != first.tensor->shape())
      throw ShapeError(text(function, ": ", describe_operand(first.role, *first.tensor), " and ",
                            describe_operand(other.role, *other.tensor),
                            ": shapes must be equal; reshape one of them"));
    check_real(function, *other.tensor, other.role);
    check_dtypes(function, *first.tensor, *other.tensor, first.role, other.role);
  }
}

void check_broadcasts(const char* function, const char* role_w, const Tensor& w, const char* role_x, const Tensor& x) {
  check_defined(function, w, role_w);
  if (broadcast_shapes(x.shape(), w.shape(), function, role_x, role_w) != x.shape())
    throw ShapeError(text(function, ": ", describe_operand(role_w, w), " does not broadcast to ",
                          describe_operand(role_x, x), "; reshape it"));
  check_dtypes(function, x, w, role_x, role_w);
}

Tensor checked_signs(const char* function, const Tensor& target, const Shape& shape, Dtype dtype) {
  check_defined(function, target, "target");
  if (target.shape() != shape)
    throw ShapeError(text(function, ": ", describe_operand("target", target), " must be ", shape,
                          ", one target per loss; reshape it"));
  const NoTape nothing_is_recorded;
  const Tensor signs = target.detach().to(dtype);
  dispatch_real(dtype, function, [&]<class T>(T) {
    std::int64_t position = 0;
    for (const T t : signs.values<T>()) {
      if (t != T(1) && t != T(-1))
        throw ValueError(text(function, ": ", static_cast<Dual>(t).value, " at position ", position, " of ",
                              describe_operand("target", target), " is neither 1 nor -1; check the targets"));
      ++position;
    }
  });
  return signs;
}

Tensor reduced(const Tensor& losses, Reduction reduction) {
  return reduced_rows(losses, reduction, static_cast<double>(losses.numel()));
}

}  // namespace retrace

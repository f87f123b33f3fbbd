#include <retrace/ops/loops/matmul_plan.h>

#include <retrace/ops/op.h>

namespace retrace {
namespace {

// The batch axes of an operand: all before the matrix.
Shape batch_of(const Shape& x) { return x.rank() <= 2 ? Shape{} : x.first(x.rank() - 2); }

std::int64_t batch_stride(const Shape& batch, int axis_from_right, std::int64_t matrix) {
  if (axis_from_right >= batch.rank() || batch[-1 - axis_from_right] == 1) return 0;
  std::int64_t stride = matrix;
  for (int k = 0; k < axis_from_right; ++k) stride *= batch[-1 - k];
  return stride;
}

/// Whether b is the same matrix for the whole batch, and the rows of a follow each other: one tall product.
bool is_tall(const MatmulPlan& plan, const Shape& batch, const Shape& batch_a, const Shape& batch_b) {
  return !plan.transpose_a && batch.numel() > 1 && batch_b.numel() == 1 && batch_a.numel() == batch.numel();
}

}  // namespace

MatmulPlan make_matmul_plan(const Shape& a, const Shape& b, MatmulOptions options, const Tensor* operand_a,
                            const Tensor* operand_b) {
  const auto operands = [=] {
    return text(describe_operand("a", *operand_a), " and ", describe_operand("b", *operand_b));
  };
  if (a.rank() == 0 || b.rank() == 0)
    throw ShapeError(
        text("matmul: ", operands(), ": a 0-d operand has no axis to sum over; multiply with mul or scale"));
  if ((options.transpose_a && a.rank() < 2) || (options.transpose_b && b.rank() < 2))
    throw ShapeError(text("matmul: ", operands(), ": a vector cannot be transposed; drop the option"));
  MatmulPlan plan;
  plan.transpose_a = options.transpose_a;
  plan.transpose_b = options.transpose_b;
  plan.zeros = options.zeros;
  plan.m = a.rank() < 2 ? 1 : a[options.transpose_a ? -1 : -2];
  plan.k = a[options.transpose_a ? -2 : -1];
  plan.n = b.rank() < 2 ? 1 : b[options.transpose_b ? -2 : -1];
  const std::int64_t inner = b.rank() < 2 ? b[0] : b[options.transpose_b ? -1 : -2];
  if (inner != plan.k)
    throw ShapeError(text("matmul: ", operands(), ": the inner lengths ", plan.k, " and ", inner,
                          " differ; transpose an operand or set transpose_a or transpose_b"));
  const Shape batch_a = batch_of(a), batch_b = batch_of(b);
  const Shape batch = broadcast_shapes(batch_a, batch_b, "matmul", "the batch axes of a", "of b");
  std::int64_t products = batch.numel();
  plan.y = batch;
  if (a.rank() > 1) plan.y = plan.y.inserted(plan.y.rank(), plan.m);
  if (b.rank() > 1) plan.y = plan.y.inserted(plan.y.rank(), plan.n);
  int axes = batch.rank();
  if (is_tall(plan, batch, batch_a, batch_b)) plan.m *= products, products = 1, axes = 0;
  for (int axis = 0; axis < axes; ++axis) {
    const std::size_t loop = static_cast<std::size_t>(axis);
    const int from_right = axes - 1 - axis;
    plan.extents[loop] = batch[axis];
    plan.strides_a[loop] = batch_stride(batch_a, from_right, plan.m * plan.k);
    plan.strides_b[loop] = batch_stride(batch_b, from_right, plan.k * plan.n);
  }
  plan.loops = std::max(axes - 1, 0);
  if (const std::size_t last = static_cast<std::size_t>(plan.loops); axes > 0)
    plan.inner = plan.extents[last], plan.step_a = plan.strides_a[last], plan.step_b = plan.strides_b[last];
  plan.groups = products == 0 ? 0 : products / plan.inner;
  return plan;
}

}  // namespace retrace

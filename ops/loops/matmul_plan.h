// The shapes of a matrix product by NumPy's rules, and loops over its batch.
#pragma once

#include <array>
#include <cstdint>

#include <retrace/ops/ops.h>

namespace retrace {

/// A product after NumPy's rules are applied: m x k by k x n, for each index of the batch axes.
struct MatmulPlan {
  using Strides = std::array<std::int64_t, max_rank>;  // 0 broadcasts

  std::int64_t m = 1, n = 1, k = 1;
  bool transpose_a = false, transpose_b = false;
  Zeros zeros = Zeros::ordinary;
  int loops = 0;  // over the batch axes but the last, outermost first
  std::array<std::int64_t, max_rank> extents{};
  Strides strides_a{}, strides_b{};
  std::int64_t inner = 1, step_a = 0, step_b = 0;  // the last batch axis, over which the kernels loop themselves
  std::int64_t groups = 1;                         // products of all loops
  Shape y;

  /// Whether the groups write every element of an operand's gradient, and write none twice.
  bool writes_all(const Strides& strides) const {
    for (std::size_t loop = 0; loop < static_cast<std::size_t>(loops); ++loop)
      if (strides[loop] == 0 && extents[loop] > 1) return false;
    return groups * inner != 0;
  }
};

/// The plan of a product of these shapes. Throws ShapeError where they do not multiply, with the operands in its
/// message: they may be left out for shapes that are known to multiply.
MatmulPlan make_matmul_plan(const Shape& a, const Shape& b, MatmulOptions options, const Tensor* operand_a = nullptr,
                            const Tensor* operand_b = nullptr);

/// The matrices of a group of products, which are stored row by row or, if `transposed`, column by column.
template <class T> struct MatrixBatch {
  T* data;
  std::int64_t row_stride;
  bool transposed;
  std::int64_t step;  // from one to the next

  T& operator()(std::int64_t item, std::int64_t i, std::int64_t j) const {
    return data[item * step + (transposed ? j * row_stride + i : i * row_stride + j)];
  }
  MatrixBatch transpose() const { return {data, row_stride, !transposed, step}; }
  operator MatrixBatch<const T>() const { return {data, row_stride, transposed, step}; }
};

/// body(matrices of a, of b, of y) for each group of products over the last batch axis.
template <class A, class B, class Y, class Body>
void for_each_batch(const MatmulPlan& plan, A* a, B* b, Y* y, Body&& body) {
  for (std::int64_t group = 0; group < plan.groups; ++group) {
    std::int64_t rest = group, in_a = 0, in_b = 0;
    for (std::size_t k = static_cast<std::size_t>(plan.loops); k-- > 0; rest /= plan.extents[k]) {
      in_a += rest % plan.extents[k] * plan.strides_a[k];
      in_b += rest % plan.extents[k] * plan.strides_b[k];
    }
    body(MatrixBatch<A>{a + in_a, plan.transpose_a ? plan.m : plan.k, plan.transpose_a, plan.step_a},
         MatrixBatch<B>{b + in_b, plan.transpose_b ? plan.k : plan.n, plan.transpose_b, plan.step_b},
         MatrixBatch<Y>{y + group * plan.inner * plan.m * plan.n, plan.n, false, plan.m * plan.n});
  }
}

}  // namespace retrace

// The shapes of a matrix product by NumPy's rules, and loops over its batch.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include <retrace/ops/ops.h>

namespace retrace {

/// A product after NumPy's rules are applied: m x k by k x n, for each index of the batch axes. A stride of 0
/// broadcasts.
struct MatmulPlan {
  std::int64_t m = 1, n = 1, k = 1;
  bool transpose_a = false, transpose_b = false;
  Zeros zeros = Zeros::ordinary;
  int loops = 0;  // over the batch axes, outermost first
  std::array<std::int64_t, max_rank> extents{}, strides_a{}, strides_b{};
  std::int64_t batch = 1;
  Shape y;

  std::int64_t row_stride_a() const { return transpose_a ? m : k; }
  std::int64_t row_stride_b() const { return transpose_b ? k : n; }
  /// b is the same matrix for the whole batch, and the rows of a follow each other: one tall product.
  bool is_tall() const {
    bool shared = !transpose_a && batch > 1;
    for (int loop = 0; loop < loops; ++loop) shared = shared && strides_b[static_cast<std::size_t>(loop)] == 0;
    std::int64_t contiguous = m * k;
    for (int loop = loops - 1; loop >= 0; --loop) {
      shared = shared && strides_a[static_cast<std::size_t>(loop)] == contiguous;
      contiguous *= extents[static_cast<std::size_t>(loop)];
    }
    return shared;
  }
};

/// The plan of a product of these shapes. Throws ShapeError where they do not multiply, with the operands in its
/// message: they may be left out for shapes that are known to multiply.
MatmulPlan make_matmul_plan(const Shape& a, const Shape& b, MatmulOptions options, const Tensor* operand_a = nullptr,
                            const Tensor* operand_b = nullptr);

/// body(offset in a, offset in b, index of the product) for every index of all batch axes but the last, which the
/// kernels loop over themselves.
template <class Body> void for_each_outer(const MatmulPlan& plan, Body&& body) {
  const int outer = std::max(plan.loops - 1, 0);
  const std::int64_t inner = plan.loops == 0 ? 1 : plan.extents[static_cast<std::size_t>(outer)];
  if (plan.batch == 0) return;
  for (std::int64_t group = 0; group < plan.batch / inner; ++group) {
    std::int64_t rest = group, a = 0, b = 0;
    for (int loop = outer - 1; loop >= 0; --loop) {
      const std::size_t k = static_cast<std::size_t>(loop);
      a += rest % plan.extents[k] * plan.strides_a[k];
      b += rest % plan.extents[k] * plan.strides_b[k];
      rest /= plan.extents[k];
    }
    body(a, b, group * inner);
  }
}

/// The last batch axis.
struct InnerBatch {
  std::int64_t batch = 1, stride_a = 0, stride_b = 0;
};
inline InnerBatch inner_of(const MatmulPlan& plan) {
  if (plan.loops == 0) return {};
  const std::size_t last = static_cast<std::size_t>(plan.loops - 1);
  return {plan.extents[last], plan.strides_a[last], plan.strides_b[last]};
}

/// body(offset in a, offset in b, index of the product) for every product.
template <class Body> void for_each_product(const MatmulPlan& plan, Body&& body) {
  const InnerBatch inner = inner_of(plan);
  for_each_outer(plan, [&](std::int64_t offset_a, std::int64_t offset_b, std::int64_t item) {
    for (std::int64_t k = 0; k < inner.batch; ++k)
      body(offset_a + k * inner.stride_a, offset_b + k * inner.stride_b, item + k);
  });
}

}  // namespace retrace

#include <array>
#include <type_traits>

#include <retrace/core/tape/attribute.h>
#include <retrace/core/tensor/op_access.h>
#include <retrace/ops/kernels/strong_zeros.h>
#include <retrace/ops/loops/formula.h>
#include <retrace/ops/loops/matmul_plan.h>
#include <retrace/ops/loops/operands.h>
#include <retrace/ops/ops.h>

namespace retrace {
namespace {

using kernels::GemmOperand;
using kernels::GemmResult;
using kernels::GemmShape;

Formulas formulas(const Record& r) {
  const auto [transpose_a, transpose_b, zeros] = r.attributes<MatmulOptions>();
  return {
      text("y = a", transpose_a ? "^T" : "", " b", transpose_b ? "^T" : ""),
      text(transpose_a ? (transpose_b ? "da = b^T dy^T" : "da = b dy^T") : (transpose_b ? "da = dy b" : "da = dy b^T"),
           transpose_b ? (transpose_a ? ", db = dy^T a^T" : ", db = dy^T a")
                       : (transpose_a ? ", db = a dy" : ", db = a^T dy"))};
}
AttributeList attribute_list(const Record& r) {
  const auto [transpose_a, transpose_b, zeros] = r.attributes<MatmulOptions>();
  return with_zeros({{"transpose_a", transpose_a}, {"transpose_b", transpose_b}}, zeros);
}
constexpr OpInfo info{"matmul", "y = a b", "da = dy b^T, db = a^T dy", "a, b", formulas, attribute_list};

/// The matrix that is stored row by row, or whose transpose is.
template <class T> struct Matrix {
  T* data;
  std::int64_t row_stride;
  bool transposed = false;

  T& operator()(std::int64_t i, std::int64_t j) const {
    return data[transposed ? j * row_stride + i : i * row_stride + j];
  }
};

// y = a b
template <class T> void forward_plain(const MatmulPlan& plan, const T* all_a, const T* all_b, T* all_y) {
  for_each_product(plan, [&](std::int64_t offset_a, std::int64_t offset_b, std::int64_t item) {
    const Matrix<const T> a{all_a + offset_a, plan.row_stride_a(), plan.transpose_a};
    const Matrix<const T> b{all_b + offset_b, plan.row_stride_b(), plan.transpose_b};
    const Matrix<T> y{all_y + item * plan.m * plan.n, plan.n};
    for (std::int64_t i = 0; i < plan.m; ++i)
      for (std::int64_t j = 0; j < plan.n; ++j) {
        y(i, j) = T(0);
        for (std::int64_t k = 0; k < plan.k; ++k) y(i, j) += product(plan.zeros, a(i, k), b(k, j));
      }
  });
}

// da += dy b^T; where a broadcasts, the sum over its products.
template <class T> void gradient_of_a_plain(const MatmulPlan& plan, const T* all_b, const T* all_dy, T* all_da) {
  for_each_product(plan, [&](std::int64_t offset_a, std::int64_t offset_b, std::int64_t item) {
    const Matrix<const T> b{all_b + offset_b, plan.row_stride_b(), plan.transpose_b};
    const Matrix<const T> dy{all_dy + item * plan.m * plan.n, plan.n};
    const Matrix<T> da{all_da + offset_a, plan.row_stride_a(), plan.transpose_a};
    for (std::int64_t i = 0; i < plan.m; ++i)
      for (std::int64_t k = 0; k < plan.k; ++k)
        for (std::int64_t j = 0; j < plan.n; ++j) da(i, k) += product(plan.zeros, dy(i, j), b(k, j));
  });
}

// db += a^T dy; where b broadcasts, the sum over its products.
template <class T> void gradient_of_b_plain(const MatmulPlan& plan, const T* all_a, const T* all_dy, T* all_db) {
  for_each_product(plan, [&](std::int64_t offset_a, std::int64_t offset_b, std::int64_t item) {
    const Matrix<const T> a{all_a + offset_a, plan.row_stride_a(), plan.transpose_a};
    const Matrix<const T> dy{all_dy + item * plan.m * plan.n, plan.n};
    const Matrix<T> db{all_db + offset_b, plan.row_stride_b(), plan.transpose_b};
    for (std::int64_t k = 0; k < plan.k; ++k)
      for (std::int64_t j = 0; j < plan.n; ++j)
        for (std::int64_t i = 0; i < plan.m; ++i) db(k, j) += product(plan.zeros, a(i, k), dy(i, j));
  });
}

template <class T> void forward(const MatmulPlan& plan, const T* a, const T* b, T* y) {
  if (plan.is_tall()) {
    kernels::gemm<T>(plan.zeros, {plan.batch * plan.m, plan.n, plan.k}, {a, plan.k},
                     {b, plan.row_stride_b(), plan.transpose_b}, {y, plan.n});
    return;
  }
  const InnerBatch inner = inner_of(plan);
  for_each_outer(plan, [&](std::int64_t offset_a, std::int64_t offset_b, std::int64_t item) {
    kernels::gemm<T>(plan.zeros, {plan.m, plan.n, plan.k, inner.batch},
                     {a + offset_a, plan.row_stride_a(), plan.transpose_a, inner.stride_a},
                     {b + offset_b, plan.row_stride_b(), plan.transpose_b, inner.stride_b},
                     {y + item * plan.m * plan.n, plan.n, plan.m * plan.n});
  });
}

// One product of a gradient with all that its operands need: shape, strides and which side is transposed.
template <class T> struct Side {
  GemmShape shape;
  GemmOperand<T> left, right;
  std::int64_t left_item, right_item;  // from one product of the inner batch to the next
  std::int64_t row_stride, result_item;
};

// Runs the inner batch; where the result is shared by the batch its products add up in order.
template <class T> void contribute(Zeros zeros, const Side<T>& side, std::int64_t batch, T* result, bool add) {
  if (side.result_item != 0 || batch == 1) {
    GemmShape shape = side.shape;
    shape.batch = batch;
    GemmOperand<T> left = side.left, right = side.right;
    left.batch_stride = side.left_item;
    right.batch_stride = side.right_item;
    kernels::gemm<T>(zeros, shape, left, right, {result, side.row_stride, side.result_item, add});
    return;
  }
  for (std::int64_t item = 0; item < batch; ++item) {
    GemmOperand<T> left = side.left, right = side.right;
    left.data += item * side.left_item;
    right.data += item * side.right_item;
    kernels::gemm<T>(zeros, side.shape, left, right, {result, side.row_stride, 0, add || item > 0});
  }
}

// da = dy b^T, or where a is stored transposed da^T = b dy^T.
template <class T> Side<T> side_of_a(const MatmulPlan& p, const InnerBatch& inner, const T* b, const T* dy) {
  const GemmOperand<T> of_dy{dy, p.n, p.transpose_a};
  if (p.transpose_a)
    return {.shape = {p.k, p.m, p.n},
            .left = {b, p.row_stride_b(), p.transpose_b},
            .right = of_dy,
            .left_item = inner.stride_b,
            .right_item = p.m * p.n,
            .row_stride = p.m,
            .result_item = inner.stride_a};
  return {.shape = {p.m, p.k, p.n},
          .left = of_dy,
          .right = {b, p.row_stride_b(), !p.transpose_b},
          .left_item = p.m * p.n,
          .right_item = inner.stride_b,
          .row_stride = p.k,
          .result_item = inner.stride_a};
}

// db = a^T dy, or where b is stored transposed db^T = dy^T a.
template <class T> Side<T> side_of_b(const MatmulPlan& p, const InnerBatch& inner, const T* a, const T* dy) {
  if (p.transpose_b)
    return {.shape = {p.n, p.k, p.m},
            .left = {dy, p.n, true},
            .right = {a, p.row_stride_a(), p.transpose_a},
            .left_item = p.m * p.n,
            .right_item = inner.stride_a,
            .row_stride = p.k,
            .result_item = inner.stride_b};
  return {.shape = {p.k, p.n, p.m},
          .left = {a, p.row_stride_a(), !p.transpose_a},
          .right = {dy, p.n},
          .left_item = inner.stride_a,
          .right_item = p.m * p.n,
          .row_stride = p.n,
          .result_item = inner.stride_b};
}

// Whether several outer batch indices meet in one matrix of the operand.
bool sums_over_outer(const MatmulPlan& plan, const std::array<std::int64_t, max_rank>& strides) {
  for (int loop = 0; loop + 1 < plan.loops; ++loop)
    if (strides[static_cast<std::size_t>(loop)] == 0 && plan.extents[static_cast<std::size_t>(loop)] > 1) return true;
  return false;
}

template <class T> void gradient_of_a(Record& r, const MatmulPlan& plan) {
  const T* b = r.saved(1).values<T>();
  const T* dy = r.grad_out<T>();
  if (plan.is_tall()) {
    const GradientSlot<T> da = r.grad_in<T>(0);
    kernels::gemm<T>(plan.zeros, {plan.batch * plan.m, plan.k, plan.n}, {dy, plan.n},
                     {b, plan.row_stride_b(), !plan.transpose_b}, {da.values, plan.k, 0, da.add});
    return;
  }
  const bool zeroed = sums_over_outer(plan, plan.strides_a) || plan.batch == 0;
  const GradientSlot<T> da = r.grad_in<T>(0, zeroed ? Begin::zeroed : Begin::fresh);
  const InnerBatch inner = inner_of(plan);
  for_each_outer(plan, [&](std::int64_t offset_a, std::int64_t offset_b, std::int64_t item) {
    contribute(plan.zeros, side_of_a(plan, inner, b + offset_b, dy + item * plan.m * plan.n), inner.batch,
               da.values + offset_a, da.add);
  });
}

template <class T> void gradient_of_b(Record& r, const MatmulPlan& plan) {
  const T* a = r.saved(0).values<T>();
  const T* dy = r.grad_out<T>();
  if (plan.is_tall()) {  // the rows of all products are one long chain
    const GradientSlot<T> db = r.grad_in<T>(1);
    const GemmOperand<T> of_a{a, plan.k, !plan.transpose_b}, of_dy{dy, plan.n, plan.transpose_b};
    const std::int64_t rows = plan.batch * plan.m;
    if (plan.transpose_b)
      kernels::gemm<T>(plan.zeros, {plan.n, plan.k, rows}, of_dy, of_a, {db.values, plan.k, 0, db.add});
    else
      kernels::gemm<T>(plan.zeros, {plan.k, plan.n, rows}, of_a, of_dy, {db.values, plan.n, 0, db.add});
    return;
  }
  const bool zeroed = sums_over_outer(plan, plan.strides_b) || plan.batch == 0;
  const GradientSlot<T> db = r.grad_in<T>(1, zeroed ? Begin::zeroed : Begin::fresh);
  const InnerBatch inner = inner_of(plan);
  for_each_outer(plan, [&](std::int64_t offset_a, std::int64_t offset_b, std::int64_t item) {
    contribute(plan.zeros, side_of_b(plan, inner, a + offset_a, dy + item * plan.m * plan.n), inner.batch,
               db.values + offset_b, db.add);
  });
}

void backward(Record& r) {
  const MatmulPlan plan = make_matmul_plan(r.in(0).shape, r.in(1).shape, r.attributes<MatmulOptions>());
  dispatch_real(r.out(0).dtype, info.name, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_floating_point_v<T>) {
      if (r.wants(0)) gradient_of_a<T>(r, plan);
      if (r.wants(1)) gradient_of_b<T>(r, plan);
    } else {
      const T* dy = r.grad_out<T>();
      if (r.wants(0)) gradient_of_a_plain(plan, r.saved(1).values<T>(), dy, r.grad_in<T>(0, Begin::zeroed).values);
      if (r.wants(1)) gradient_of_b_plain(plan, r.saved(0).values<T>(), dy, r.grad_in<T>(1, Begin::zeroed).values);
    }
  });
}

}  // namespace

Tensor matmul(const Tensor& a, const Tensor& b, MatmulOptions options) {
  check_defined(info.name, a, "a");
  check_defined(info.name, b, "b");
  check_dtypes(info.name, a, b);
  const MatmulPlan plan = make_matmul_plan(a.shape(), b.shape(), options, &a, &b);
  if (a.dtype() != b.dtype()) {
    const auto [like_b, like_a] = with_tangents(info.name, a, b);
    return matmul(like_b, like_a, options);
  }
  Tensor y;
  dispatch_real(a, "a", info.name, [&](auto zero) {
    using T = decltype(zero);
    y = empty(plan.y, a.dtype(), info.name);
    const T *from_a = a.values<T>().data(), *from_b = b.values<T>().data();
    T* to = OpAccess::values<T>(y);
    if constexpr (std::is_floating_point_v<T>)
      forward(plan, from_a, from_b, to);
    else
      forward_plain(plan, from_a, from_b, to);
  });
  record(info, backward, {&a, &b}, {&y}, {b.wants_gradient() ? &a : nullptr, a.wants_gradient() ? &b : nullptr},
         options);
  return y;
}

}  // namespace retrace

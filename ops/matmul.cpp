#include <retrace/ops/kernels/strong_zeros.h>
#include <retrace/ops/loops/matmul_plan.h>
#include <retrace/ops/op.h>

namespace retrace {
namespace {

Formulas matmul_formulas(const Record& r) {
  const auto [transpose_a, transpose_b, zeros] = r.attributes<MatmulOptions>();
  return {
      text("y = a", transpose_a ? "^T" : "", " b", transpose_b ? "^T" : ""),
      text(transpose_a ? (transpose_b ? "da = b^T dy^T" : "da = b dy^T") : (transpose_b ? "da = dy b" : "da = dy b^T"),
           transpose_b ? (transpose_a ? ", db = dy^T a^T" : ", db = dy^T a")
                       : (transpose_a ? ", db = a dy" : ", db = a^T dy"))};
}
AttributeList matmul_attributes(const Record& r) {
  const auto [transpose_a, transpose_b, zeros] = r.attributes<MatmulOptions>();
  return with_zeros({{"transpose_a", transpose_a}, {"transpose_b", transpose_b}}, zeros);
}
constexpr OpInfo matmul_info{"matmul", "y = a b",       "da = dy b^T, db = a^T dy",
                             "a, b",   matmul_formulas, matmul_attributes};

template <class T> kernels::GemmOperand<T> factor(const MatrixBatch<const T>& x, std::int64_t item) {
  return {x.data + item * x.step, x.row_stride, x.transposed, x.step};
}

/// out = or, with `add`, += left right, for each item of a batch; where they share one `out`, the sum over the items.
template <class T>
void multiply(Zeros zeros, kernels::GemmShape n, const MatrixBatch<T>& out, const MatrixBatch<const T>& left,
              const MatrixBatch<const T>& right, bool add) {
  if constexpr (!std::is_floating_point_v<T>) {
    for (std::int64_t item = 0; item < n.batch; ++item, add = add || out.step == 0)
      for (std::int64_t i = 0; i < n.m; ++i)
        for (std::int64_t j = 0; j < n.n; ++j) {
          T& sum = out(item, i, j);
          if (!add) sum = T(0);
          for (std::int64_t k = 0; k < n.k; ++k) sum += product(zeros, left(item, i, k), right(item, k, j));
        }
  } else if (out.transposed) {  // out^T = right^T left^T
    multiply(zeros, {n.n, n.m, n.k, n.batch}, out.transpose(), right.transpose(), left.transpose(), add);
  } else {
    const std::int64_t together = out.step == 0 ? 1 : n.batch;
    for (std::int64_t item = 0; item < n.batch; item += together)
      kernels::gemm<T>(zeros, {n.m, n.n, n.k, together}, factor(left, item), factor(right, item),
                       {out.data, out.row_stride, out.step, add || item > 0});
  }
}

// y = a b
template <class T> void matmul_forward(const MatmulPlan& plan, const T* all_a, const T* all_b, T* all_y) {
  for_each_batch(plan, all_a, all_b, all_y, [&](const auto& a, const auto& b, const auto& y) {
    multiply<T>(plan.zeros, {plan.m, plan.n, plan.k, plan.inner}, y, a, b, false);
  });
}

// da = dy b^T; where a broadcasts, the sum over its products.
template <class T> void gradient_of_a(const MatmulPlan& plan, const T* all_dy, const T* all_b, GradientSlot<T> all_da) {
  for_each_batch(plan, all_da.values, all_b, all_dy, [&](const auto& da, const auto& b, const auto& dy) {
    multiply<T>(plan.zeros, {plan.m, plan.k, plan.n, plan.inner}, da, dy, b.transpose(), all_da.add);
  });
}

// db = a^T dy; where b broadcasts, the sum over its products.
template <class T> void gradient_of_b(const MatmulPlan& plan, const T* all_dy, const T* all_a, GradientSlot<T> all_db) {
  for_each_batch(plan, all_a, all_db.values, all_dy, [&](const auto& a, const auto& db, const auto& dy) {
    multiply<T>(plan.zeros, {plan.k, plan.n, plan.m, plan.inner}, db, a.transpose(), dy, all_db.add);
  });
}

void matmul_backward(Record& r) {
  const MatmulPlan plan = make_matmul_plan(r.in(0).shape, r.in(1).shape, r.attributes<MatmulOptions>());
  dispatch_real(r.out(0).dtype, matmul_info.name, [&]<class T>(T) {
    const T* dy = r.grad_out<T>();
    const auto slot = [&](int i, const MatmulPlan::Strides& strides) {
      return r.grad_in<T>(i, plan.writes_all(strides) ? Begin::fresh : Begin::zeroed);
    };
    if (r.wants(0)) gradient_of_a(plan, dy, r.saved(1).values<T>(), slot(0, plan.strides_a));
    if (r.wants(1)) gradient_of_b(plan, dy, r.saved(0).values<T>(), slot(1, plan.strides_b));
  });
}

}  // namespace

Tensor matmul(const Tensor& a, const Tensor& b, MatmulOptions options) {
  check_defined(matmul_info.name, a, "a");
  check_defined(matmul_info.name, b, "b");
  check_dtypes(matmul_info.name, a, b);
  const MatmulPlan plan = make_matmul_plan(a.shape(), b.shape(), options, &a, &b);
  if (a.dtype() != b.dtype()) {
    const auto [like_b, like_a] = with_tangents(matmul_info.name, a, b);
    return matmul(like_b, like_a, options);
  }
  Tensor y;
  dispatch_real(a, "a", matmul_info.name, [&]<class T>(T) {
    y = empty(plan.y, a.dtype(), matmul_info.name);
    matmul_forward(plan, a.values<T>().data(), b.values<T>().data(), OpAccess::values<T>(y));
  });
  record(matmul_info, matmul_backward, {&a, &b}, {&y},
         {b.wants_gradient() ? &a : nullptr, a.wants_gradient() ? &b : nullptr}, options);
  return y;
}

}  // namespace retrace

#include <algorithm>

#include <retrace/ops/kernels/gemm.h>
#include <retrace/ops/operands.h>
#include <retrace/ops/ops.h>

namespace retrace {
namespace {

using kernels::gemm;

constexpr OpInfo info{"linear", "y = x W^T + b", "dx = dy W, dW = dy^T x, db = sum of dy over rows", "x, W, b"};

std::int64_t rows_of(const Shape& x) { return x.first(x.rank() - 1).numel(); }

template <class T>
void add_rows(const T* dy, std::int64_t rows, std::int64_t columns, const GradientSlot<T>& db) {
  if (!db.add) std::fill(db.values, db.values + columns, T(0));
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::int64_t column = 0; column < columns; ++column) db.values[column] += dy[row * columns + column];
}

void backward(Record& r) {
  const std::int64_t rows = rows_of(r.in(0).shape), out = r.in(1).shape[0], in = r.in(1).shape[1];
  dispatch_real(r.out(0).dtype, info.name, [&](auto zero) {
    using T = decltype(zero);
    const T* dy = r.grad_out<T>();
    if (r.wants(0)) {
      const GradientSlot<T> dx = r.grad_in<T>(0);
      gemm<T>({rows, in, out}, {dy, out}, {r.saved(1).values<T>(), in}, {dx.values, in, 0, dx.add});
    }
    if (r.wants(1)) {
      const GradientSlot<T> dw = r.grad_in<T>(1);
      gemm<T>({out, in, rows}, {dy, out, true}, {r.saved(0).values<T>(), in}, {dw.values, in, 0, dw.add});
    }
    if (r.inputs() > 2 && r.wants(2)) add_rows(dy, rows, out, r.grad_in<T>(2));
  });
}

void check(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  const auto operands = [&] { return text(describe_operand("x", x), " and ", describe_operand("W", weight)); };
  if (weight.rank() != 2)
    throw ShapeError(text("linear: ", describe_operand("W", weight), " must be a matrix [out, in]; reshape it"));
  if (x.rank() == 0 || x.dim(-1) != weight.dim(1))
    throw ShapeError(
        text("linear: ", operands(), ": x must be [..., in] for W [out, in]; transpose or reshape one of them"));
  if (bias.defined() && bias.shape() != Shape{weight.dim(0)})
    throw ShapeError(text("linear: ", operands(), " with ", describe_operand("b", bias), ": b must be [", weight.dim(0),
                          "], one number an output"));
  check_dtypes(info.name, x, weight, "x", "W");
  if (bias.defined()) check_dtypes(info.name, x, bias, "x", "b");
  check_real(info.name, x);
}

}  // namespace

Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  check(x, weight, bias);
  const bool mixed = x.dtype() != weight.dtype() || (bias.defined() && bias.dtype() != weight.dtype());
  if (mixed || expand_fused()) {  // the composed twin
    const Tensor product = matmul(x, weight, {.transpose_b = true});
    return bias.defined() ? add(product, bias) : product;
  }
  const std::int64_t rows = rows_of(x.shape()), out = weight.dim(0), in = weight.dim(1);
  Tensor y;
  dispatch_real(x.dtype(), info.name, [&](auto zero) {
    using T = decltype(zero);
    y = empty(x.shape().replaced(x.rank() - 1, out), x.dtype());
    const T* added = bias.defined() ? bias.values<T>().data() : nullptr;
    gemm<T>({rows, out, in}, {x.values<T>().data(), in}, {weight.values<T>().data(), in, true},
            {y.mutable_values<T>().data(), out, 0, false, added});
  });
  const Tensor* saved_x = weight.wants_gradient() ? &x : nullptr;
  const Tensor* saved_weight = x.wants_gradient() ? &weight : nullptr;
  if (bias.defined())
    record(info, backward, {&x, &weight, &bias}, {&y}, {saved_x, saved_weight});
  else
    record(info, backward, {&x, &weight}, {&y}, {saved_x, saved_weight});
  return y;
}

}  // namespace retrace

#include <retrace/ops/op.h>

namespace retrace {
namespace {

constexpr OpInfo outer_info{"outer", "y[i, j] = a[i] b[j]", "da[i] = sum_j dy[i, j] b[j], db[j] = sum_i dy[i, j] a[i]",
                            "a, b"};

void outer_backward(Record& r) {
  const std::int64_t rows = r.in(0).numel(), columns = r.in(1).numel();
  dispatch_real(r.out(0).dtype, outer_info.name, [&]<class T>(T) {
    const T* dy = r.grad_out<T>();
    if (r.wants(0)) {
      const T* b = r.saved(1).values<T>();
      r.grad_in<T>(0).put(rows, [=](std::int64_t i) {
        T sum(0);
        for (std::int64_t j = 0; j < columns; ++j) sum += dy[i * columns + j] * b[j];
        return sum;
      });
    }
    if (r.wants(1)) {
      const T* a = r.saved(0).values<T>();
      r.grad_in<T>(1).put(columns, [=](std::int64_t j) {
        T sum(0);
        for (std::int64_t i = 0; i < rows; ++i) sum += dy[i * columns + j] * a[i];
        return sum;
      });
    }
  });
}

}  // namespace

Tensor outer(const Tensor& a, const Tensor& b) {
  check_defined(outer_info.name, a, "a");
  check_defined(outer_info.name, b, "b");
  if (a.rank() != 1 || b.rank() != 1)
    throw ShapeError(text("outer: ", describe_operand("a", a), " and ", describe_operand("b", b),
                          ": both must be vectors; reshape them"));
  if (a.dtype() != b.dtype()) {
    const auto [like_b, like_a] = with_tangents(outer_info.name, a, b);
    return outer(like_b, like_a);
  }
  Tensor y;
  dispatch_real(a, "a", outer_info.name, [&]<class T>(T) {
    y = empty({a.dim(0), b.dim(0)}, a.dtype(), outer_info.name);
    T* to = OpAccess::values<T>(y);
    for (const T left : a.values<T>())
      for (const T right : b.values<T>()) *to++ = left * right;
  });
  record(outer_info, outer_backward, {&a, &b}, {&y},
         {b.wants_gradient() ? &a : nullptr, a.wants_gradient() ? &b : nullptr});
  return y;
}

}  // namespace retrace

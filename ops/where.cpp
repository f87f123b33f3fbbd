
#include <retrace/ops/loops/broadcast.h>
#include <retrace/ops/op.h>

namespace retrace {
namespace {

constexpr OpInfo where_info{"where", "y = a where condition, else b",
                            "da = dy where condition, else 0, db = 0 where condition, else dy", "condition, a, b"};
constexpr std::int64_t where_grain = 16384;

void where_backward(Record& r) {
  const Broadcast broadcast(r.out(0).shape, {&r.in(0).shape, &r.in(1).shape, &r.in(2).shape});
  const std::int64_t* condition = r.saved(0).values<std::int64_t>();
  dispatch_real(r.out(0).dtype, where_info.name, [&]<class T>(T) {
    const T* dy = r.grad_out<T>();
    for (std::size_t operand = 1; operand <= 2; ++operand) {
      const int input = static_cast<int>(operand);
      if (!r.wants(input)) continue;
      T* sums = r.grad_in<T>(input, Begin::zeroed).values;
      for_each_row(broadcast, 0, r.out(0).numel(), [&](const BroadcastRow& row) {
        const std::int64_t step = broadcast.strides[0][operand];
        const std::int64_t condition_step = broadcast.strides[0][0];
        T* to = sums + row.offsets[operand];
        for (std::int64_t k = 0; k < row.count; ++k) {
          const bool takes_a = condition[row.offsets[0] + k * condition_step] != 0;
          if (takes_a == (operand == 1)) to[k * step] += dy[row.first + k];
        }
      });
    }
  });
}

template <class T>
void where_values(const Broadcast& broadcast, const Tensor& condition, const Tensor& a, const Tensor& b,
                  const Tensor& y) {
  const std::int64_t* of_condition = condition.values<std::int64_t>().data();
  const T* of_a = a.values<T>().data();
  const T* of_b = b.values<T>().data();
  T* to = OpAccess::values<T>(y);
  parallel_for(y.numel(), where_grain, [&](std::int64_t begin, std::int64_t end) {
    for_each_row(broadcast, begin, end, [&](const BroadcastRow& row) {
      const auto [condition_step, a_step, b_step] = broadcast.strides[0];
      const auto [condition_at, a_at, b_at] = row.offsets;
      for (std::int64_t k = 0; k < row.count; ++k)
        to[row.first + k] =
            of_condition[condition_at + k * condition_step] != 0 ? of_a[a_at + k * a_step] : of_b[b_at + k * b_step];
    });
  });
}

Tensor number_beside(const Tensor& x, const char* role, const Scalar& number) {
  if (x.dtype() == i64 && !number.is_i64())
    throw ValueError(text(where_info.name, ": ", describe_operand(role, x), " is i64, which does not hold ", number,
                          "; convert it with to(f32) or to(f64)"));
  return full({}, number, x.dtype());
}

}  // namespace

Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b) {
  check_defined(where_info.name, condition, "condition");
  check_defined(where_info.name, a, "a");
  check_defined(where_info.name, b, "b");
  check_mask(where_info.name, "condition", condition, "condition");
  check_dtypes(where_info.name, a, b);
  const Shape of_both = broadcast_operands(where_info.name, a, b);
  const Shape shape = broadcast_shapes(condition.shape(), of_both, where_info.name, "condition", "a and b");
  if (a.dtype() != b.dtype()) {
    const auto [like_b, like_a] = with_tangents(where_info.name, a, b);
    return where(condition, like_b, like_a);
  }
  const Broadcast broadcast(shape, {&condition.shape(), &a.shape(), &b.shape()});
  Tensor y = empty(shape, a.dtype(), where_info.name);
  dispatch_any(a.dtype(), [&]<class T>(T) { where_values<T>(broadcast, condition, a, b, y); });
  record(where_info, where_backward, {&condition, &a, &b}, {&y}, {&condition});
  return y;
}

Tensor where(const Tensor& condition, const Tensor& a, Scalar b) {
  check_defined(where_info.name, a, "a");
  return where(condition, a, number_beside(a, "a", b));
}
Tensor where(const Tensor& condition, Scalar a, const Tensor& b) {
  check_defined(where_info.name, b, "b");
  return where(condition, number_beside(b, "b", a), b);
}

}  // namespace retrace

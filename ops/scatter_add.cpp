#include <retrace/ops/loops/ids.h>
#include <retrace/ops/op.h>

namespace retrace {
namespace {

constexpr OpInfo scatter_add_info{"scatter_add", "y = x, y[ids[i]] += updates[i]", "dx = dy, dupdates[i] = dy[ids[i]]",
                                  "x, ids, updates"};

// Elements of a row: the product of all axes of x but the first.
std::int64_t row_length(const Shape& x) { return x.last(x.rank() - 1).numel(); }

void scatter_add_backward(Record& r) {
  if (r.wants(0)) r.pass(0, 0);
  if (!r.wants(2)) return;
  const std::int64_t length = row_length(r.in(0).shape);
  const std::int64_t* ids = r.saved(0).values<std::int64_t>();
  dispatch_real(r.in(2).dtype, scatter_add_info.name, [&]<class T>(T) {
    const T* dy = r.grad_out<T>();
    const GradientSlot<T> updates = r.grad_in<T>(2);
    for (std::int64_t i = 0; i < r.in(1).numel(); ++i)
      GradientSlot<T>{updates.values + i * length, updates.add}.put(
          length, [row = dy + ids[i] * length](std::int64_t k) { return row[k]; });
  });
}

}  // namespace

Tensor scatter_add(const Tensor& x, const Tensor& ids, const Tensor& updates) {
  check_defined(scatter_add_info.name, x, "x");
  check_defined(scatter_add_info.name, ids, "ids");
  check_defined(scatter_add_info.name, updates, "updates");
  if (x.rank() == 0 || ids.rank() != 1 || updates.shape() != x.shape().replaced(0, ids.numel()))
    throw ShapeError(text("scatter_add: ", describe_operand("x", x), ", ", describe_operand("ids", ids), " and ",
                          describe_operand("updates", updates),
                          ": ids must be a vector, and updates one row of x an id; reshape them"));
  check_dtypes(scatter_add_info.name, x, updates, "x", "updates");
  const std::int64_t* rows = checked_ids(scatter_add_info.name, ids, x.dim(0));
  if (updates.dtype() != x.dtype()) {
    const auto [like_updates, like_x] = with_tangents(scatter_add_info.name, x, updates);
    return scatter_add(like_updates, ids, like_x);
  }
  const std::int64_t length = row_length(x.shape());
  Tensor y = x.clone();
  dispatch_any(x.dtype(), [&]<class T>(T) {
    const T* from = updates.values<T>().data();
    T* to = OpAccess::values<T>(y);
    for (std::int64_t i = 0; i < ids.numel(); ++i)
      for (std::int64_t k = 0; k < length; ++k) to[rows[i] * length + k] += from[i * length + k];
  });
  record(scatter_add_info, scatter_add_backward, {&x, &ids, &updates}, {&y}, {&ids});
  return y;
}

}  // namespace retrace

#include <retrace/ops/loops/picks.h>

namespace retrace {
namespace {

// w holds which update is the last at each place: "w[i, ids[i, j]] = j"
Formulas scatter_formulas(const Record& r) {
  const int rank = r.in(0).shape.rank(), axis = r.attributes<int>();
  const std::string update = index_letters(rank), last = index_letter(axis);
  const std::string place = picked_index(rank, axis, text("ids[", update, "]"));
  return {text("y = x, y[", place, "] = updates[", update, "]"),
          text("w[", place, "] = ", last, ", dx = dy, dx[", place, "] = 0, dupdates[", update, "] = dy[", place,
               "] where w[", place, "] = ", last, ", else 0")};
}
constexpr OpInfo scatter_info{
    "scatter",
    "y = x, y[ids[i]] = updates[i]",
    "w[ids[i]] = i, dx = dy, dx[ids[i]] = 0, dupdates[i] = dy[ids[i]] where w[ids[i]] = i, else 0",
    "x, ids, updates",
    scatter_formulas,
    axis_attribute};

void scatter_backward(Record& r) {
  const Shape &x = r.in(0).shape, &ids = r.in(1).shape;
  const std::int64_t* positions = r.saved(0).values<std::int64_t>();
  const int axis = r.attributes<int>();
  const Tensor last_updates = full(x, -1, i64);
  std::int64_t* const last = OpAccess::values<std::int64_t>(last_updates);
  for_each_pick(x, ids, axis, positions, [=](std::int64_t in_x, std::int64_t update) { last[in_x] = update; });
  dispatch_real(r.in(0).dtype, scatter_info.name, [&]<class T>(T) {
    const T* dy = r.grad_out<T>();
    if (r.wants(0)) r.grad_in<T>(0).put(x.numel(), [=](std::int64_t k) { return last[k] < 0 ? dy[k] : T(0); });
    if (!r.wants(2)) return;
    const GradientSlot<T> updates = r.grad_in<T>(2);
    for_each_pick(x, ids, axis, positions, [=](std::int64_t in_x, std::int64_t update) {
      updates.put_at(update, last[in_x] == update ? dy[in_x] : T(0));
    });
  });
}

}  // namespace

Tensor scatter(const Tensor& x, const Tensor& ids, const Tensor& updates, int axis) {
  check_defined(scatter_info.name, {{&x, "x"}, {&ids, "ids"}, {&updates, "updates"}});
  const int along = axis_of(scatter_info.name, x, axis);
  if (ids.shape() != updates.shape() || ids.rank() != x.rank() || ids.shape().erased(along) != x.shape().erased(along))
    throw ShapeError(text("scatter: ", describe_operand("x", x), ", ", describe_operand("ids", ids), " and ",
                          describe_operand("updates", updates), " along axis ", along,
                          ": ids and updates must have one shape, with the extents of x along all other axes; "
                          "broadcast or slice them"));
  check_dtypes(scatter_info.name, x, updates, "x", "updates");
  const std::int64_t* positions = checked_ids(scatter_info.name, ids, x.dim(along));
  if (updates.dtype() != x.dtype()) {
    const auto [like_updates, like_x] = with_tangents(scatter_info.name, x, updates);
    return scatter(like_updates, ids, like_x, axis);
  }
  Tensor y = x.clone();
  dispatch_any(x.dtype(), [&]<class T>(T) {
    const T* from = updates.values<T>().data();
    T* to = OpAccess::values<T>(y);
    for_each_pick(x.shape(), ids.shape(), along, positions,
                  [=](std::int64_t in_x, std::int64_t update) { to[in_x] = from[update]; });
  });
  record(scatter_info, scatter_backward, {&x, &ids, &updates}, {&y}, {&ids}, along);
  return y;
}

}  // namespace retrace

#include <retrace/ops/loops/picks.h>

namespace retrace {
namespace {

/// Whether each line of x along the axis has ids of its own, as in gather; otherwise, all have the same ones.
bool has_ids_of_lines(const Shape& ids) { return ids.rank() > 1; }

// "y = x, y[i, ids[j]] += updates[i, j]"
Formulas scatter_add_formulas(const Record& r) {
  const int rank = r.in(0).shape.rank(), axis = r.attributes<int>();
  const std::string of_update = index_letters(rank);
  const std::string of_id = has_ids_of_lines(r.in(1).shape) ? of_update : index_letter(axis);
  const std::string place = picked_index(rank, axis, text("ids[", of_id, "]"));
  return {text("y = x, y[", place, "] += updates[", of_update, "]"),
          text("dx = dy, dupdates[", of_update, "] = dy[", place, "]")};
}
constexpr OpInfo scatter_add_info{"scatter_add",
                                  "y = x, y[ids[i]] += updates[i]",
                                  "dx = dy, dupdates[i] = dy[ids[i]]",
                                  "x, ids, updates",
                                  scatter_add_formulas,
                                  axis_attribute};

/// body(place in x, place in updates, how many elements follow each of them), in the order of the updates.
template <class Body>
void for_each_update(const Shape& x, const Shape& ids, int axis, const std::int64_t* positions, const Body& body) {
  if (has_ids_of_lines(ids))
    return for_each_pick(x, ids, axis, positions,
                         [&](std::int64_t in_x, std::int64_t in_updates) { body(in_x, in_updates, 1); });
  const PickedBlocks blocks(x, ids.numel(), axis);
  for (std::int64_t n = 0; n < blocks.blocks(); ++n) body(blocks.place(n, positions), n * blocks.inner, blocks.inner);
}

void scatter_add_backward(Record& r) {
  if (r.wants(0)) r.pass(0, 0);
  if (!r.wants(2)) return;
  dispatch_real(r.in(2).dtype, scatter_add_info.name, [&]<class T>(T) {
    const T* dy = r.grad_out<T>();
    const GradientSlot<T> updates = r.grad_in<T>(2);
    for_each_update(r.in(0).shape, r.in(1).shape, r.attributes<int>(), r.saved(0).values<std::int64_t>(),
                    [=](std::int64_t in_x, std::int64_t in_updates, std::int64_t count) {
                      updates.from(in_updates).put(count, [row = dy + in_x](std::int64_t k) { return row[k]; });
                    });
  });
}

void check_scatter_add(const Tensor& x, const Tensor& ids, const Tensor& updates, int axis) {
  const bool fits = has_ids_of_lines(ids.shape())
                        ? ids.shape() == updates.shape() && updates.rank() == x.rank() &&
                              updates.shape().erased(axis) == x.shape().erased(axis)
                        : ids.rank() == 1 && updates.shape() == x.shape().replaced(axis, ids.numel());
  if (!fits)
    throw ShapeError(text("scatter_add: ", describe_operand("x", x), ", ", describe_operand("ids", ids), " and ",
                          describe_operand("updates", updates), " along axis ", axis,
                          ": ids must be a vector or of the shape of updates, which have the extents of x along all "
                          "other axes; reshape or slice them"));
}

}  // namespace

Tensor scatter_add(const Tensor& x, const Tensor& ids, const Tensor& updates, int axis) {
  check_defined(scatter_add_info.name, {{&x, "x"}, {&ids, "ids"}, {&updates, "updates"}});
  const int along = axis_of(scatter_add_info.name, x, axis);
  check_scatter_add(x, ids, updates, along);
  check_dtypes(scatter_add_info.name, x, updates, "x", "updates");
  const std::int64_t* positions = checked_ids(scatter_add_info.name, ids, x.dim(along));
  if (updates.dtype() != x.dtype()) {
    const auto [like_updates, like_x] = with_tangents(scatter_add_info.name, x, updates);
    return scatter_add(like_updates, ids, like_x, axis);
  }
  Tensor y = x.clone();
  dispatch_any(x.dtype(), [&]<class T>(T) {
    const T* from = updates.values<T>().data();
    T* to = OpAccess::values<T>(y);
    for_each_update(x.shape(), ids.shape(), along, positions,
                    [=](std::int64_t in_x, std::int64_t in_updates, std::int64_t count) {
                      for (std::int64_t k = 0; k < count; ++k) to[in_x + k] += from[in_updates + k];
                    });
  });
  record(scatter_add_info, scatter_add_backward, {&x, &ids, &updates}, {&y}, {&ids}, along);
  return y;
}

}  // namespace retrace

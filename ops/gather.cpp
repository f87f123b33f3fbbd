#include <retrace/ops/loops/picks.h>

namespace retrace {
namespace {

// "y[i, j] = x[i, ids[i, j]]"
Formulas gather_formulas(const Record& r) {
  const int rank = r.in(0).shape.rank();
  const std::string in_y = index_letters(rank);
  const std::string in_x = picked_index(rank, r.attributes<int>(), text("ids[", in_y, "]"));
  return {text("y[", in_y, "] = x[", in_x, "]"), text("dx[", in_x, "] += dy[", in_y, "]")};
}
constexpr OpInfo gather_info{"gather", "y[i] = x[ids[i]]", "dx[ids[i]] += dy[i]",
                             "x, ids", gather_formulas,    axis_attribute};

void gather_backward(Record& r) {
  dispatch_real(r.in(0).dtype, gather_info.name, [&]<class T>(T) {
    const T* dy = r.grad_out<T>();
    T* dx = r.grad_in<T>(0, Begin::zeroed).values;
    for_each_pick(r.in(0).shape, r.in(1).shape, r.attributes<int>(), r.saved(0).values<std::int64_t>(),
                  [=](std::int64_t in_x, std::int64_t in_y) { dx[in_x] += dy[in_y]; });
  });
}

}  // namespace

Tensor gather(const Tensor& x, const Tensor& ids, int axis) {
  check_defined(gather_info.name, x, "x");
  check_defined(gather_info.name, ids, "ids");
  const int along = axis_of(gather_info.name, x, axis);
  if (ids.rank() != x.rank() || ids.shape().erased(along) != x.shape().erased(along))
    throw ShapeError(text("gather: ", describe_operand("x", x), " and ", describe_operand("ids", ids), " along axis ",
                          along, ": all other extents must be equal; broadcast or slice one of them"));
  const std::int64_t* positions = checked_ids(gather_info.name, ids, x.dim(along));
  Tensor y = empty(ids.shape(), x.dtype(), gather_info.name);
  dispatch_any(x.dtype(), [&]<class T>(T) {
    const T* from = x.values<T>().data();
    T* to = OpAccess::values<T>(y);
    for_each_pick(x.shape(), ids.shape(), along, positions,
                  [=](std::int64_t in_x, std::int64_t in_y) { to[in_y] = from[in_x]; });
  });
  record(gather_info, gather_backward, {&x, &ids}, {&y}, {&ids}, along);
  return y;
}

}  // namespace retrace

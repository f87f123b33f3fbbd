#include <retrace/ops/loops/reduction.h>

#include <retrace/ops/op.h>

namespace retrace {
namespace {

// Appends a loop, merged with the one around it where that may be and the two walk memory as one.
void append(std::array<ReductionLoops::Loop, max_rank>& loops, int& count, std::int64_t extent, std::int64_t stride,
            bool may_merge) {
  if (extent == 1) return;
  if (count > 0 && may_merge) {
    ReductionLoops::Loop& outer = loops[static_cast<std::size_t>(count - 1)];
    if (outer.stride == extent * stride) {
      outer = {outer.extent * extent, stride};
      return;
    }
  }
  loops[static_cast<std::size_t>(count++)] = {extent, stride};
}

}  // namespace

ReductionLoops::ReductionLoops(const Shape& x, const std::array<bool, max_rank>& flags) {
  const auto strides = x.strides();
  // A loop that is merged over a kept axis of length 1 would add in another order than it does where there are several.
  bool after_reduced = false;
  for (int axis = 0; axis < x.rank(); ++axis) {
    const std::size_t i = static_cast<std::size_t>(axis);
    if (flags[i]) {
      append(reduced, reduced_count, x[axis], strides[i], after_reduced);
      terms *= x[axis];
    } else {
      append(kept, kept_count, x[axis], strides[i], true);
      outputs *= x[axis];
    }
    after_reduced = flags[i];
  }
}

std::int64_t ReductionLoops::base(std::int64_t output) const {
  std::int64_t offset = 0;
  for (int level = kept_count - 1; level >= 0; --level) {
    const Loop& loop = kept[static_cast<std::size_t>(level)];
    offset += output % loop.extent * loop.stride;
    output /= loop.extent;
  }
  return offset;
}

Shape reduced_shape(const Shape& x, const std::array<bool, max_rank>& flags, ReduceOptions options) {
  Shape y = x;
  for (int axis = x.rank() - 1; axis >= 0; --axis) {
    if (!flags[static_cast<std::size_t>(axis)]) continue;
    y = options.keepdims ? y.replaced(axis, 1) : y.erased(axis);
  }
  return y;
}

AttributeList reduction_attributes(const Record& r) {
  const Shape& x = r.in(0).shape;
  std::vector<std::int64_t> axes;
  for (int axis = 0; axis < x.rank(); ++axis)
    if (r.attributes<ReductionAttributes>().flags[static_cast<std::size_t>(axis)]) axes.push_back(axis);
  const bool keepdims = !axes.empty() && r.out(0).shape.rank() == x.rank();
  return {{"axes", std::move(axes)}, {"keepdims", keepdims}};
}

}  // namespace retrace

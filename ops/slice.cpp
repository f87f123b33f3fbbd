#include <retrace/ops/loops/strided.h>
#include <retrace/ops/op.h>

namespace retrace {
namespace {

constexpr OpInfo slice_info{"slice", "y = x[index]", "dx[index] += dy", "x", part_formulas, part_attributes};

// The part of x that an index means.
struct Part {
  Shape shape;
  Strided strided;
  bool contiguous = true;  // a run of x's memory
};

struct Range {
  std::int64_t first, count, step;
};

// Python's rule for start:stop:step on an axis of x.
Range resolve(const SliceIndex& index, const Tensor& x, int axis) {
  const std::int64_t length = x.dim(axis);
  const std::int64_t step = index.step;
  if (step == 0)
    throw ValueError(text("slice: a step of 0 along axis ", axis, " of ", describe_operand("x", x),
                          " goes nowhere; use a positive or a negative one"));
  const std::int64_t lowest = step > 0 ? 0 : -1, highest = step > 0 ? length : length - 1;
  const auto clamped = [&](std::int64_t position, std::int64_t open) {
    if (position == SliceIndex::none) return open;
    return std::clamp(position < 0 ? position + length : position, lowest, highest);
  };
  const std::int64_t first = clamped(index.start, step > 0 ? lowest : highest);
  const std::int64_t last = clamped(index.stop, step > 0 ? highest : lowest);
  const std::int64_t distance = step > 0 ? last - first : first - last;
  if (distance <= 0) return {0, 0, 1};
  if (step >= distance || step <= -distance) return {first, 1, 1};  // so that a huge step never meets a stride
  return {first, 1 + (distance - 1) / (step > 0 ? step : -step), step};
}

std::int64_t position_of(const SliceIndex& index, const Tensor& x, int axis) {
  const std::int64_t length = x.dim(axis);
  if (index.start < -length || index.start >= length)
    throw IndexError(text("slice: index ", index.start, " is outside axis ", axis, " of ", describe_operand("x", x),
                          "; it runs from ", -length, " to ", length - 1));
  return index.start < 0 ? index.start + length : index.start;
}

void keep_axis(Part& part, const Range& range, std::int64_t stride) {
  const int position = part.shape.rank();
  part.shape = part.shape.inserted(position, range.count);
  part.strided.strides[static_cast<std::size_t>(position)] = range.step * stride;
  part.strided.offset += range.first * stride;
}

int rank_of(const Tensor& x, std::span<const SliceIndex> index) {
  int rank = x.rank();
  for (const SliceIndex& entry : index)
    rank += entry.kind == SliceIndex::Kind::new_axis ? 1 : entry.kind == SliceIndex::Kind::integer ? -1 : 0;
  return rank;
}

Part part_of(const Tensor& x, std::span<const SliceIndex> index) {
  check_rank(slice_info.name, x, rank_of(x, index));
  const auto strides = x.shape().strides();
  Part part;
  int axis = 0;
  for (const SliceIndex& entry : index) {
    if (entry.kind == SliceIndex::Kind::new_axis) {
      part.shape = part.shape.inserted(part.shape.rank(), 1);
      part.contiguous = false;
      continue;
    }
    if (axis >= x.rank())
      throw ShapeError(text("slice: ", index.size(), " entries for ", describe_operand("x", x),
                            ", which has fewer axes; give at most one per axis"));
    const std::int64_t stride = strides[static_cast<std::size_t>(axis)];
    if (entry.kind == SliceIndex::Kind::integer) {
      part.strided.offset += position_of(entry, x, axis) * stride;
      part.contiguous = part.contiguous && axis == 0;
    } else {
      const Range range = resolve(entry, x, axis);
      part.contiguous = part.contiguous && entry.step == 1 && (axis == 0 || range.count == x.dim(axis));
      keep_axis(part, range, stride);
    }
    ++axis;
  }
  for (; axis < x.rank(); ++axis) keep_axis(part, {0, x.dim(axis), 1}, strides[static_cast<std::size_t>(axis)]);
  return part;
}

}  // namespace

SliceIndex range(std::int64_t start, std::int64_t stop, std::int64_t step) {
  return {SliceIndex::Kind::range, start, stop, step};
}

Tensor slice(const Tensor& x, std::span<const SliceIndex> index) {
  check_defined(slice_info.name, x, "x");
  const Part part = part_of(x, index);
  if (!part.contiguous) return strided_copy(slice_info, part_backward, x, part.shape, part.strided);
  Tensor y = view(x, part.shape, part.strided.offset);  // rows of the first axis share the storage
  record(slice_info, part_backward, {&x}, {&y}, {}, part.strided);
  return y;
}

Tensor slice(const Tensor& x, std::initializer_list<SliceIndex> index) {
  return slice(x, std::span(index.begin(), index.size()));
}

}  // namespace retrace

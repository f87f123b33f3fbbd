#include <retrace/ops/loops/strided.h>

#include <retrace/ops/op.h>

namespace retrace {

StridedWalk::StridedWalk(const Shape& y, const Strided& x) : first_x_(x.offset), elements_(y.numel()) {
  const auto strides = y.strides();
  for (int axis = 0; axis < y.rank(); ++axis) {
    const std::size_t i = static_cast<std::size_t>(axis);
    if (y[axis] == 1) continue;
    const Axis next{y[axis], strides[i], x.strides[i]};
    Axis* last = count_ == 0 ? nullptr : &axes_[static_cast<std::size_t>(count_ - 1)];
    if (last != nullptr && last->in_x == next.in_x * next.length)
      *last = {last->length * next.length, next.in_y, next.in_x};
    else
      axes_[static_cast<std::size_t>(count_++)] = next;
  }
  if (count_ == 0) axes_[static_cast<std::size_t>(count_++)] = {1, 1, 1};
  order_axes();
}

void StridedWalk::order_axes() {
  Axis* const innermost = &axes_[static_cast<std::size_t>(count_ - 1)];
  if (innermost->in_x == 1) return;
  Axis* const walks_x = std::find_if(axes_.data(), innermost, [](const Axis& axis) { return axis.in_x == 1; });
  if (walks_x == innermost) return;
  std::rotate(walks_x, walks_x + 1, innermost);
  tiled_ = true;
}

StridedWalk StridedWalk::part(std::int64_t begin, std::int64_t end) const {
  StridedWalk result = *this;
  result.axes_[0].length = end - begin;
  result.first_y_ += begin * axes_[0].in_y;
  result.first_x_ += begin * axes_[0].in_x;
  return result;
}

void reordered_backward(Record& r) {
  const StridedWalk walk(r.out(0).shape, r.attributes<Strided>());
  dispatch_real(r.in(0).dtype, r.op().name, [&]<class T>(T) { write_strided(walk, r.grad_out<T>(), r.grad_in<T>(0)); });
}

void part_backward(Record& r) {
  const StridedWalk walk(r.out(0).shape, r.attributes<Strided>());
  dispatch_real(r.in(0).dtype, r.op().name,
                [&]<class T>(T) { write_strided(walk, r.grad_out<T>(), r.grad_in<T>(0, Begin::zeroed)); });
}

AttributeList part_attributes(const Record& r) {
  const Strided& part = r.attributes<Strided>();
  const auto end = part.strides.begin() + r.out(0).shape.rank();
  return {{"offset", part.offset}, {"strides", std::vector(part.strides.begin(), end)}};
}

Tensor strided_copy(const OpInfo& info, BackwardFunction backward, const Tensor& x, const Shape& shape,
                    const Strided& strided) {
  Tensor y = empty(shape, x.dtype(), info.name);
  dispatch_any(x.dtype(), [&]<class T>(T) {
    read_strided(StridedWalk(shape, strided), x.values<T>().data(), {OpAccess::values<T>(y), false});
  });
  record(info, backward, {&x}, {&y}, {}, strided);
  return y;
}

}  // namespace retrace

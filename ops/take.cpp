#include <retrace/ops/take.h>

#include <retrace/ops/kernels/elementwise.h>
#include <retrace/ops/loops/lines.h>

namespace retrace {
namespace {

// "y[i, j] = x[i, ids[j]]"; 0-d ids drop the axis of x.
Formulas take_formulas(const Record& r) {
  const int axis = r.attributes<int>();
  const bool drops = r.in(1).shape.rank() == 0;
  std::string in_x, in_y;
  for (int k = 0; k < r.in(0).shape.rank(); ++k) {
    const std::string letter = index_letter(k), comma = k == 0 ? "" : ", ";
    in_x += comma + (k != axis ? letter : drops ? "ids" : text("ids[", letter, "]"));
    if (k != axis || !drops) in_y += (in_y.empty() ? "" : ", ") + letter;
  }
  const std::string of_y = in_y.empty() ? "" : text("[", in_y, "]");
  return {text("y", of_y, " = x[", in_x, "]"), text("dx[", in_x, "] += dy", of_y)};
}
constexpr OpInfo take_info{"take", "y[i] = x[ids[i]]", "dx[ids[i]] += dy[i]", "x, ids", take_formulas, axis_attribute};

// x as [outer, length, inner] and y as [outer, count, inner].
struct Blocks {
  std::int64_t outer, length, count, inner;

  Blocks(const Shape& x, std::int64_t ids, int axis)
      : outer(x.first(axis).numel()), length(x[axis]), count(ids), inner(x.last(x.rank() - axis - 1).numel()) {}
  // Where block n of y lies in x.
  std::int64_t place(std::int64_t n, const std::int64_t* ids) const {
    return (n / count * length + ids[n % count]) * inner;
  }
};

// to += from. A block shorter than a call's worth is added here.
template <class T> void add_block(const T* from, std::int64_t count, T* to) {
  if (count >= 128) return kernels::add_rows(from, count, 1, count, to);
  for (std::int64_t k = 0; k < count; ++k) to[k] += from[k];
}

// One block after the other, for ids may repeat.
void take_backward(Record& r) {
  const Blocks blocks(r.in(0).shape, r.in(1).numel(), r.attributes<int>());
  const std::int64_t* ids = r.saved(0).values<std::int64_t>();
  dispatch_real(r.in(0).dtype, r.op().name, [&]<class T>(T) {
    const T* dy = r.grad_out<T>();
    T* dx = r.grad_in<T>(0, Begin::zeroed).values;
    for (std::int64_t n = 0; n < blocks.outer * blocks.count; ++n)
      add_block(dy + n * blocks.inner, blocks.inner, dx + blocks.place(n, ids));
  });
}

}  // namespace

Tensor take_blocks(const OpInfo& op, const Tensor& x, const Tensor& ids, int axis, const Shape& shape) {
  const std::int64_t* positions = checked_ids(op.name, ids, x.dim(axis));
  const Blocks blocks(x.shape(), ids.numel(), axis);
  Tensor y = empty(shape, x.dtype(), op.name);
  dispatch_any(x.dtype(), [&]<class T>(T) {
    const T* from = x.values<T>().data();
    T* to = OpAccess::values<T>(y);
    parallel_for(blocks.outer * blocks.count, 16384 / (blocks.inner + 1) + 1,
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t n = begin; n < end; ++n)
                     std::copy_n(from + blocks.place(n, positions), blocks.inner, to + n * blocks.inner);
                 });
  });
  record(op, take_backward, {&x, &ids}, {&y}, {&ids}, axis);
  return y;
}

Tensor take(const Tensor& x, const Tensor& ids, int axis) {
  check_defined(take_info.name, x, "x");
  check_defined(take_info.name, ids, "ids");
  const int along = axis_of(take_info.name, x, axis);
  if (ids.rank() > 1)
    throw ShapeError(text("take: ", describe_operand("ids", ids),
                          " must be a vector, or a 0-d tensor to drop the axis; use gather or embedding for more"));
  const Shape rest = x.shape().erased(along);
  return take_blocks(take_info, x, ids, along, ids.rank() == 0 ? rest : rest.inserted(along, ids.dim(0)));
}

}  // namespace retrace

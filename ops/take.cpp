#include <retrace/ops/take.h>

#include <retrace/ops/kernels/elementwise.h>
#include <retrace/ops/loops/picks.h>

namespace retrace {
namespace {

// "y[i, j] = x[i, ids[j]]"; 0-d ids drop the axis of x.
Formulas take_formulas(const Record& r) {
  const int axis = r.attributes<TakeAttributes>().axis, rank = r.in(0).shape.rank();
  const bool drops = r.in(1).shape.rank() == 0;
  const std::string in_x = picked_index(rank, axis, drops ? "ids" : text("ids[", index_letter(axis), "]"));
  std::string in_y;
  for (int k = 0; k < rank; ++k)
    if (k != axis || !drops) in_y += (in_y.empty() ? "" : ", ") + index_letter(k);
  const std::string of_y = in_y.empty() ? "" : text("[", in_y, "]");
  return {text("y", of_y, " = x[", in_x, "]"), text("dx[", in_x, "] += dy", of_y)};
}
AttributeList take_attributes(const Record& r) { return {{"axis", r.attributes<TakeAttributes>().axis}}; }
constexpr OpInfo take_info{"take", "y[i] = x[ids[i]]", "dx[ids[i]] += dy[i]", "x, ids", take_formulas, take_attributes};

// to += from. A block shorter than a call's worth is added here.
template <class T> void add_block(const T* from, std::int64_t count, T* to) {
  if (count >= 128) return kernels::add_rows(from, count, 1, count, to);
  for (std::int64_t k = 0; k < count; ++k) to[k] += from[k];
}

// One block after the other, for ids may repeat.
void take_backward(Record& r) {
  const auto [axis, constant] = r.attributes<TakeAttributes>();
  const PickedBlocks blocks(r.in(0).shape, r.in(1).numel(), axis);
  const std::int64_t* ids = r.saved(0).values<std::int64_t>();
  dispatch_real(r.in(0).dtype, r.op().name, [&, constant = constant]<class T>(T) {
    const T* dy = r.grad_out<T>();
    T* dx = r.grad_in<T>(0, Begin::zeroed).values;
    for (std::int64_t n = 0; n < blocks.blocks(); ++n)
      if (blocks.id(n, ids) != constant) add_block(dy + n * blocks.inner, blocks.inner, dx + blocks.place(n, ids));
  });
}

}  // namespace

Tensor take_blocks(const OpInfo& op, const Tensor& x, const Tensor& ids, const TakeAttributes& attributes,
                   const Shape& shape) {
  const auto [axis, constant] = attributes;
  const std::int64_t* positions = checked_ids(op.name, ids, x.dim(axis));
  const PickedBlocks blocks(x.shape(), ids.numel(), axis);
  Tensor y = empty(shape, x.dtype(), op.name);
  dispatch_any(x.dtype(), [&, constant = constant]<class T>(T) {
    const T* from = x.values<T>().data();
    T* to = OpAccess::values<T>(y);
    parallel_for(blocks.blocks(), 16384 / (blocks.inner + 1) + 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t n = begin; n < end; ++n) {
        T* const block = to + n * blocks.inner;
        std::copy_n(from + blocks.place(n, positions), blocks.inner, block);
        if constexpr (std::is_same_v<T, Dual>)
          if (blocks.id(n, positions) == constant)
            for (std::int64_t k = 0; k < blocks.inner; ++k) block[k] = Dual(block[k].value);
      }
    });
  });
  record(op, take_backward, {&x, &ids}, {&y}, {&ids}, attributes);
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
  return take_blocks(take_info, x, ids, {.axis = along}, ids.rank() == 0 ? rest : rest.inserted(along, ids.dim(0)));
}

}  // namespace retrace

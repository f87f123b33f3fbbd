// The loops of sum and mean: reductions whose gradient is the same for every element, so that whole rows can be summed
// and filled at once. Each is a struct:
//
//   struct Mean {
//     static constexpr OpInfo info{"mean", "y = mean x", "dx = dy / n", "x"};
//     template <class T> static T of_sum(T sum, T n);  // also maps dy to the gradient of each element
//     static constexpr bool divides = true;            // false if of_sum returns its sum unchanged
//   };
#pragma once

#include <retrace/ops/loops/broadcast.h>
#include <retrace/ops/loops/reduction.h>

namespace retrace {

template <class T> T as_number(std::int64_t count) { return static_cast<T>(static_cast<double>(count)); }

/// Whether one axis is summed and neighbours in memory go into neighbours of y.
inline bool sums_columns(const ReductionLoops& loops) {
  return loops.reduced_count == 1 && loops.kept_count > 0 &&
         loops.kept[static_cast<std::size_t>(loops.kept_count - 1)].stride == 1;
}

/// y[begin .. end) of sums over columns.
template <class Op, class T>
void reduce_columns(const ReductionLoops& loops, const T* x, std::int64_t begin, std::int64_t end, T* y) {
  const std::int64_t extent = loops.kept[static_cast<std::size_t>(loops.kept_count - 1)].extent;
  const ReductionLoops::Loop rows = loops.reduced[0];
  Wide<T> sums[columns_at_once];
  while (begin < end) {
    const std::int64_t columns = std::min({columns_at_once, extent - begin % extent, end - begin});
    ordered_column_sums<T>(x + loops.base(begin), rows.extent, rows.stride, columns, sums);
    for (std::int64_t c = 0; c < columns; ++c)
      y[begin + c] = static_cast<T>(Op::of_sum(sums[c], as_number<Wide<T>>(loops.terms)));
    begin += columns;
  }
}

template <class Op> void sums_backward(Record& r) {
  const Shape& x = r.in(0).shape;
  const auto& flags = r.attributes<ReductionAttributes>().flags;
  const Shape kept = reduced_shape(x, flags, {.keepdims = true});
  const Broadcast broadcast(x, {&kept});
  dispatch_real(r.in(0).dtype, Op::info.name, [&]<class T>(T) {
    const T* dy = r.grad_out<T>();
    const T terms = as_number<T>(ReductionLoops(x, flags).terms);
    Tensor divided;
    if (Op::divides && !broadcast.stands_still(0)) {  // rows of dy are read several times
      divided = empty(r.out(0).shape, r.out(0).dtype);
      T* to = OpAccess::values<T>(divided);
      for (std::int64_t k = 0; k < divided.numel(); ++k) to[k] = Op::of_sum(dy[k], terms);
      dy = to;
    }
    const GradientSlot<T> dx = r.grad_in<T>(0);
    parallel_for(x.numel(), reduction_grain, [&](std::int64_t begin, std::int64_t end) {
      for_each_row(broadcast, begin, end, [&](const BroadcastRow& row) {
        const GradientSlot<T> to = dx.from(row.first);
        const T* from = dy + row.offsets[0];
        if (broadcast.stands_still(0))
          to.put(row.count, [each = Op::of_sum(*from, terms)](std::int64_t) { return each; });
        else
          to.put(row.count, [=](std::int64_t k) { return from[k]; });
      });
    });
  });
}

template <class Op> Tensor reduce_to_sums(const Tensor& x, const Axes& axes, ReduceOptions options) {
  check_defined(Op::info.name, x, "x");
  const auto flags = axes.flags(x, Op::info.name);
  const ReductionLoops loops(x.shape(), flags);
  const Shape shape = reduced_shape(x.shape(), flags, options);
  const auto columns = [&](const auto* from, auto* to, std::int64_t begin, std::int64_t end) {
    reduce_columns<Op>(loops, from, begin, end, to);
  };
  const auto value = [&]<class T>(const Terms<T>& terms) {
    return static_cast<T>(Op::of_sum(terms.sum([](auto element) { return element; }), as_number<Wide<T>>(loops.terms)));
  };
  const Tensor y =
      sums_columns(loops) ? reduced_values<Op>(x, loops, shape, columns) : values_of_terms<Op>(x, loops, shape, value);
  record(Op::info, sums_backward<Op>, {&x}, {&y}, {}, ReductionAttributes{flags});
  return y;
}

}  // namespace retrace

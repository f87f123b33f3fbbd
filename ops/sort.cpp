// sort, argsort and topk: positions in order, which are not recorded, and the elements there by gather.
#include <numeric>

#include <retrace/ops/loops/lines.h>

namespace retrace {
namespace {

/// Whether p comes before q in ascending order: NaN counts as largest.
template <class T> bool is_less(T p, T q) {
  if constexpr (std::is_integral_v<T>) {
    return p < q;
  } else {
    return !isnan(p) && (isnan(q) || p < q);
  }
}

/// The first `count` positions of each line of x in order; equal elements stay in theirs.
Tensor ordered_positions(const char* function, const Tensor& x, int axis, std::int64_t count, bool descending) {
  Tensor y = empty(x.shape().replaced(axis, count), i64, function);
  dispatch_any(x.dtype(), [&]<class T>(T) {
    const T* from = x.values<T>().data();
    std::int64_t* to = OpAccess::values<std::int64_t>(y);
    const Lines lines(x.shape(), axis), results(y.shape(), axis);
    lines.for_each_block([&](std::int64_t begin, std::int64_t end) {
      const Tensor room = empty({lines.length}, i64);
      const auto positions = room.mutable_values<std::int64_t>();
      for (std::int64_t line = begin; line < end; ++line) {
        const T* first = from + lines.start(line);
        std::iota(positions.begin(), positions.end(), std::int64_t{0});
        const auto goes_before = [=, stride = lines.stride](std::int64_t i, std::int64_t j) {
          const T p = first[i * stride], q = first[j * stride];
          if (is_less(p, q)) return !descending;
          if (is_less(q, p)) return descending;
          return i < j;
        };
        if (count == lines.length)
          std::sort(positions.begin(), positions.end(), goes_before);
        else
          std::partial_sort(positions.begin(), positions.begin() + count, positions.end(), goes_before);
        for (std::int64_t k = 0; k < count; ++k)
          to[results.start(line) + k * results.stride] = positions[static_cast<std::size_t>(k)];
      }
    });
  });
  return y;
}

}  // namespace

SortResult sort(const Tensor& x, int axis, SortOptions options) {
  check_defined("sort", x, "x");
  const int along = axis_of("sort", x, axis);
  const Tensor positions = ordered_positions("sort", x, along, x.dim(along), options.descending);
  return {gather(x, positions, along), positions};
}

Tensor argsort(const Tensor& x, int axis, SortOptions options) {
  check_defined("argsort", x, "x");
  const int along = axis_of("argsort", x, axis);
  return ordered_positions("argsort", x, along, x.dim(along), options.descending);
}

SortResult topk(const Tensor& x, std::int64_t k, int axis, TopkOptions options) {
  check_defined("topk", x, "x");
  const int along = axis_of("topk", x, axis);
  if (k < 0 || k > x.dim(along))
    throw ShapeError(text("topk: ", k, " elements of axis ", along, " of ", describe_operand("x", x),
                          ": k is 0 to the length of the axis; give another k"));
  const Tensor positions = ordered_positions("topk", x, along, k, options.largest);
  return {gather(x, positions, along), positions};
}

}  // namespace retrace

// The lines of a tensor along one axis: what softmax, cumsum and argmax walk.
#pragma once

#include <retrace/ops/op.h>

namespace retrace {

/// Line l begins at start(l); its `length` elements are `stride` apart.
struct Lines {
  std::int64_t count = 1;
  std::int64_t length = 1;
  std::int64_t stride = 1;

  Lines(const Shape& shape, int axis) : length(shape[axis]) {
    for (int k = axis + 1; k < shape.rank(); ++k) stride *= shape[k];
    for (int k = 0; k < axis; ++k) count *= shape[k];
    count *= stride;
  }
  std::int64_t start(std::int64_t line) const { return line / stride * stride * length + line % stride; }
  /// body(start) for every line, over threads.
  template <class Body> void for_each(Body&& body) const {
    for_each_block([&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t line = begin; line < end; ++line) body(start(line));
    });
  }
  /// body(from, to, rows) for blocks of lines as rows, over threads: where the elements of a line are not neighbours, a
  /// copy of it, whose last array then goes to `to`.
  template <class T, std::size_t arrays, class Body>
  void for_each_as_rows(const std::array<const T*, arrays>& from, const GradientSlot<T>& to, const Body& body) const {
    for_each_block([&](std::int64_t begin, std::int64_t end) {
      std::array<const T*, arrays> rows = from;
      if (stride == 1) {
        for (const T*& array : rows) array += begin * length;
        return body(rows, to.from(begin * length), end - begin);
      }
      const Tensor room = empty({static_cast<std::int64_t>(arrays), length}, dtype_of<T>);
      T* const copies = OpAccess::values<T>(room);
      for (std::size_t n = 0; n < arrays; ++n) rows[n] = copies + static_cast<std::int64_t>(n) * length;
      T* const last = copies + (static_cast<std::int64_t>(arrays) - 1) * length;
      for (std::int64_t line = begin; line < end; ++line) {
        for (std::size_t n = 0; n < arrays; ++n)
          for (std::int64_t k = 0; k < length; ++k)
            copies[static_cast<std::int64_t>(n) * length + k] = from[n][start(line) + k * stride];
        body(rows, GradientSlot<T>{last, false}, 1);
        for (std::int64_t k = 0; k < length; ++k) to.put_at(start(line) + k * stride, last[k]);
      }
    });
  }
  /// body(first line, line after the last) for blocks of lines, over threads.
  template <class Body> void for_each_block(Body&& body) const { parallel_for(count, 4096 / (length + 1) + 1, body); }
};

/// The formulas and the constants of an op whose attribute is its axis.
inline Formulas formulas_along_axis(const Record& r) {
  const std::string axis = along_axis(r.attributes<int>());
  return {r.op().forward + axis, r.op().backward + axis};
}
inline AttributeList axis_attribute(const Record& r) { return {{"axis", r.attributes<int>()}}; }

/// Whether an op takes i64, too.
enum class Elements { real, any };
/// A tensor like x, not recorded: fill(lines, elements of x, its elements) writes it.
template <Elements elements = Elements::real, class Fill>
Tensor filled_by_lines(const OpInfo& info, const Tensor& x, int axis, const Fill& fill) {
  Tensor y;
  const auto fill_all = [&]<class T>(T) {
    y = empty_like(x);
    fill(Lines(x.shape(), axis), x.values<T>().data(), OpAccess::values<T>(y));
  };
  if constexpr (elements == Elements::any)
    dispatch_any(x.dtype(), fill_all);
  else
    dispatch_real(x, "x", info.name, fill_all);
  return y;
}

}  // namespace retrace

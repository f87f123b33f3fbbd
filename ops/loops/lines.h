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
  /// body(copies, start) for every line, over threads: the elements of a line of each array, side by side, to be worked
  /// on in place.
  template <class T, std::size_t arrays, class Body>
  void for_each_gathered(const std::array<const T*, arrays>& from, Body&& body) const {
    for_each_block([&](std::int64_t begin, std::int64_t end) {
      const Tensor room = empty({static_cast<std::int64_t>(arrays), length}, dtype_of<T>);
      std::array<T*, arrays> copies;
      for (std::size_t n = 0; n < arrays; ++n)
        copies[n] = OpAccess::values<T>(room) + static_cast<std::int64_t>(n) * length;
      for (std::int64_t line = begin; line < end; ++line) {
        for (std::size_t n = 0; n < arrays; ++n)
          for (std::int64_t k = 0; k < length; ++k) copies[n][k] = from[n][start(line) + k * stride];
        body(std::as_const(copies), start(line));
      }
    });
  }
  /// body(first line, line after the last) for blocks of lines, over threads.
  template <class Body> void for_each_block(Body&& body) const { parallel_for(count, 4096 / (length + 1) + 1, body); }
};

}  // namespace retrace

// The lines of a tensor along one axis: what softmax, cumsum and argmax walk.
#pragma once

#include <cstdint>

#include <retrace/core/parallel.h>
#include <retrace/core/tensor.h>

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
  template <class Body>
  void for_each(Body&& body) const {
    parallel_for(count, 4096 / (length + 1) + 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t line = begin; line < end; ++line) body(start(line));
    });
  }
};

}  // namespace retrace

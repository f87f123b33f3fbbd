// Walking a tensor's memory in another order: transpose, slice, flip, pad, concat and split are all copies from or to a
// part of memory that is walked with other strides.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include <retrace/core/base/parallel.h>
#include <retrace/core/tape/attribute.h>
#include <retrace/core/tape/recording.h>

namespace retrace {

/// Element (i, j, ...) of a shape lies at offset + i strides[0] + j strides[1] + ...; no two lie at one place.
struct Strided {
  std::int64_t offset = 0;
  std::array<std::int64_t, max_rank> strides{};
};

/// The loops that visit every element of a dense tensor y together with its place in the memory of x. Axes that both
/// walk alike are merged. Where the innermost loop of y would jump through x, the loop that walks x one by one comes
/// next to it, and both go in tiles: a transpose then reads whole cache lines.
class StridedWalk {
 public:
  StridedWalk(const Shape& y, const Strided& x);
  /// body(k, place, count, stride), over threads: elements k, k + 1, ... of y lie at place, place + stride, ... of x.
  template <class Body> void for_each_row(Body&& body) const {
    if (elements_ == 0) return;
    const std::int64_t grain = 1 + 16384 * axes_[0].length / elements_;
    parallel_for(axes_[0].length, grain, [&](std::int64_t begin, std::int64_t end) { part(begin, end).visit(body); });
  }

 private:
  static constexpr std::int64_t tile = 16;
  struct Axis {
    std::int64_t length = 1, in_y = 0, in_x = 0;
  };

  void order_axes();
  /// The walk for positions begin .. end - 1 of the outermost loop.
  StridedWalk part(std::int64_t begin, std::int64_t end) const;

  template <class Body> void visit(Body&& body) const {
    std::array<std::int64_t, max_rank> index{};
    std::int64_t k = first_y_, place = first_x_;
    for (int level = 0; level >= 0;) {
      visit_plane(k, place, body);
      for (level = count_ - 3; level >= 0; --level) {  // the next plane
        const Axis& axis = axes_[static_cast<std::size_t>(level)];
        std::int64_t& position = index[static_cast<std::size_t>(level)];
        k += axis.in_y, place += axis.in_x;
        if (++position < axis.length) break;
        k -= position * axis.in_y, place -= position * axis.in_x;
        position = 0;
      }
    }
  }
  /// The two innermost loops.
  template <class Body> void visit_plane(std::int64_t k, std::int64_t place, Body&& body) const {
    const Axis rows = count_ >= 2 ? axes_[static_cast<std::size_t>(count_ - 2)] : Axis();
    const Axis columns = axes_[static_cast<std::size_t>(count_ - 1)];
    const std::int64_t width = tiled_ ? tile : columns.length;
    for (std::int64_t column = 0; column < columns.length; column += width)
      for (std::int64_t row = 0; row < rows.length; ++row)
        body(k + row * rows.in_y + column, place + row * rows.in_x + column * columns.in_x,
             std::min(width, columns.length - column), columns.in_x);
  }

  std::array<Axis, max_rank> axes_{};  // outermost first
  int count_ = 0;
  bool tiled_ = false;
  std::int64_t first_y_ = 0, first_x_ = 0, elements_ = 0;
};

/// y[k] = or += x[place of k].
template <class T> void read_strided(const StridedWalk& walk, const T* x, const GradientSlot<T>& y) {
  walk.for_each_row([=](std::int64_t k, std::int64_t place, std::int64_t count, std::int64_t stride) {
    const T* from = x + place;
    const GradientSlot<T> to{y.values + k, y.add};
    if (stride == 1)
      to.put(count, [=](std::int64_t n) { return from[n]; });
    else
      to.put(count, [=](std::int64_t n) { return from[n * stride]; });
  });
}

/// x[place of k] = or += y[k].
template <class T> void write_strided(const StridedWalk& walk, const T* y, const GradientSlot<T>& x) {
  walk.for_each_row([=](std::int64_t k, std::int64_t place, std::int64_t count, std::int64_t stride) {
    const T* from = y + k;
    T* to = x.values + place;
    if (stride == 1)
      GradientSlot<T>{to, x.add}.put(count, [=](std::int64_t n) { return from[n]; });
    else if (x.add)
      for (std::int64_t n = 0; n < count; ++n) to[n * stride] += from[n];
    else
      for (std::int64_t n = 0; n < count; ++n) to[n * stride] = from[n];
  });
}

/// The backward of an op whose y is every element of x in another order: dx[place of k] = dy[k]. Its attributes are the
/// Strided.
void reordered_backward(Record& r);
/// The backward of an op whose y is a part of x: dx[place of k] += dy[k]. Its attributes are the Strided.
void part_backward(Record& r);
/// Where the elements of that part lie: element (i, j, ...) of y at offset + i strides[0] + j strides[1] + ... of x.
AttributeList part_attributes(const Record& r);
/// y = the elements of x in that order and shape, copied and recorded.
Tensor strided_copy(const OpInfo& info, BackwardFunction backward, const Tensor& x, const Shape& shape,
                    const Strided& strided);

}  // namespace retrace

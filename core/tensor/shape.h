// The extents of a tensor's axes: contiguous, row-major, at most eight of them, held inline.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <span>
#include <string>

#include <retrace/core/base/error.h>

namespace retrace {

/// The number of axes that a tensor can have.
inline constexpr int max_rank = 8;

/// A list of up to eight non-negative extents. {} is the shape of a single number; an extent of 0 makes a tensor empty.
class Shape {
 public:
  Shape() = default;
  Shape(std::initializer_list<std::int64_t> extents) : Shape(std::span(extents.begin(), extents.size())) {}
  explicit Shape(std::span<const std::int64_t> extents);

  int rank() const { return rank_; }
  /// The extent of an axis; -1 is the last. Throws ShapeError outside [-rank, rank).
  std::int64_t operator[](int axis) const { return extents_[static_cast<std::size_t>(axis_index(axis))]; }
  /// The number of elements (1 for {}). Saturates where no memory could hold them.
  std::int64_t numel() const { return numel_; }
  const std::int64_t* begin() const { return extents_.data(); }
  const std::int64_t* end() const { return extents_.data() + rank_; }

  /// The shape with an extent put in before `axis`, replaced, or taken away. Axes count from 0 here.
  Shape inserted(int axis, std::int64_t extent) const;
  Shape replaced(int axis, std::int64_t extent) const;
  Shape erased(int axis) const;
  /// The first or the last `count` extents.
  Shape first(int count) const { return Shape(std::span(begin(), static_cast<std::size_t>(count))); }
  Shape last(int count) const { return Shape(std::span(end() - count, static_cast<std::size_t>(count))); }
  /// This shape followed by the extents of another.
  Shape joined(const Shape& tail) const;
  /// Elements between neighbours along each axis.
  std::array<std::int64_t, max_rank> strides() const;

  friend bool operator==(const Shape& a, const Shape& b) {
    if (a.rank_ != b.rank_ || a.numel_ != b.numel_ || a.extents_[0] != b.extents_[0]) return false;
    for (int axis = 1; axis < a.rank_; ++axis)
      if (a.extents_[static_cast<std::size_t>(axis)] != b.extents_[static_cast<std::size_t>(axis)]) return false;
    return true;
  }

 private:
  int axis_index(int axis) const {
    const int index = axis < 0 ? axis + rank_ : axis;
    if (index < 0 || index >= rank_) throw_axis(axis);
    return index;
  }
  [[noreturn]] void throw_axis(int axis) const;
  void count_elements();

  std::int64_t numel_ = 1;
  int rank_ = 0;
  std::array<std::int64_t, max_rank> extents_{};
};

/// "[2, 3]"
std::string to_text(const Shape& shape);
std::ostream& operator<<(std::ostream& out, const Shape& shape);
/// More than any memory holds; twice as many bytes as an element has still count without overflow.
inline constexpr std::int64_t max_elements = std::int64_t{1} << 46;
/// Throws ShapeError if the product of the non-zero extents of `shape` exceeds max_elements. Every tensor, even an
/// empty one, has passed this check, so no product of its extents overflows.
void check_extents(const Shape& shape, const char* function);
inline void check_numel(const Shape& shape, const char* function) {
  const bool is_common = static_cast<std::uint64_t>(shape.numel()) - 1 < static_cast<std::uint64_t>(max_elements);
  if (!is_common) [[unlikely]]
    check_extents(shape, function);
}
/// Returns a size given by the user, or the sum or product of several. Throws ShapeError, naming the function and the
/// size, if one is negative or the result exceeds max_elements.
std::int64_t checked_size(const char* function, const char* name, std::int64_t size);
std::int64_t checked_sum(const char* function, const char* name, std::initializer_list<std::int64_t> sizes);
std::int64_t checked_product(const char* function, const char* name, std::initializer_list<std::int64_t> sizes);
/// NumPy's rule: axes from the right are equal, or one of them is 1 or missing. Throws ShapeError.
Shape broadcast_shapes(const Shape& a, const Shape& b, const char* function, const char* name_a = "a",
                       const char* name_b = "b");

}  // namespace retrace

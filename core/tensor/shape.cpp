#include <retrace/core/tensor/shape.h>

#include <algorithm>
#include <ostream>

namespace retrace {
namespace {

std::size_t index(int axis) { return static_cast<std::size_t>(axis); }

[[noreturn]] void throw_bad_sizes(const char* function, const char* name, std::initializer_list<std::int64_t> sizes,
                                  const char* sign) {
  std::string terms;
  for (const std::int64_t size : sizes) terms += text(terms.empty() ? "" : sign, size);
  if (std::any_of(sizes.begin(), sizes.end(), [](std::int64_t size) { return size < 0; }))
    throw ShapeError(text(function, ": ", name, " = ", terms, " has a negative part; sizes are 0 or more"));
  throw ShapeError(text(function, ": ", name, " = ", terms, " is more than memory can hold; use smaller sizes"));
}

}  // namespace

Shape::Shape(std::span<const std::int64_t> extents) {
  if (extents.size() > max_rank)
    throw ShapeError(text("Shape: ", extents.size(), " axes are more than the ", max_rank,
                          " that a tensor can have; reshape some of them together"));
  for (const std::int64_t extent : extents) {
    if (extent < 0) throw ShapeError(text("Shape: an extent of ", extent, " is negative; extents are 0 or more"));
    extents_[index(rank_++)] = extent;
  }
  count_elements();
}

void Shape::count_elements() {
  numel_ = 1;
  for (const std::int64_t extent : *this) {
    if (extent == 0) {
      numel_ = 0;
      return;
    }
    numel_ = extent > max_elements / numel_ ? max_elements + 1 : numel_ * extent;
  }
}

void Shape::throw_axis(int axis) const {
  throw ShapeError(text("Shape: ", *this, " has no axis ", axis, "; axes run from ", -rank_, " to ", rank_ - 1));
}

Shape Shape::inserted(int axis, std::int64_t extent) const {
  std::array<std::int64_t, max_rank + 1> extents{};
  std::copy(begin(), begin() + axis, extents.begin());
  extents[index(axis)] = extent;
  std::copy(begin() + axis, end(), extents.begin() + axis + 1);
  return Shape(std::span<const std::int64_t>(extents.data(), index(rank_) + 1));
}

Shape Shape::replaced(int axis, std::int64_t extent) const {
  Shape result = *this;
  result.extents_[index(axis)] = extent;
  result.count_elements();
  return result;
}

Shape Shape::erased(int axis) const {
  Shape result = *this;
  std::copy(begin() + axis + 1, end(), result.extents_.begin() + axis);
  result.extents_[index(--result.rank_)] = 0;
  result.count_elements();
  return result;
}

Shape Shape::joined(const Shape& tail) const {
  std::array<std::int64_t, 2 * max_rank> extents{};
  std::copy(tail.begin(), tail.end(), std::copy(begin(), end(), extents.begin()));
  return Shape(std::span<const std::int64_t>(extents.data(), index(rank_ + tail.rank_)));
}

std::array<std::int64_t, max_rank> Shape::strides() const {
  std::array<std::int64_t, max_rank> result{};
  std::int64_t stride = 1;
  for (int axis = rank_ - 1; axis >= 0; --axis) {
    result[index(axis)] = stride;
    if (__builtin_mul_overflow(stride, extents_[index(axis)], &stride)) stride = max_elements + 1;
  }
  return result;
}

std::string to_text(const Shape& shape) {
  std::string result = "[";
  for (int axis = 0; axis < shape.rank(); ++axis) result += text(axis == 0 ? "" : ", ", shape[axis]);
  return result + "]";
}

std::ostream& operator<<(std::ostream& out, const Shape& shape) { return out << to_text(shape); }

void check_extents(const Shape& shape, const char* function) {
  std::int64_t product = 1;
  for (const std::int64_t extent : shape) {
    if (extent == 0) continue;
    if (__builtin_mul_overflow(product, extent, &product) || product > max_elements)
      throw ShapeError(text(function, ": ", shape,
                            shape.numel() == 0
                                ? " is empty, but its other extents multiply to more than memory can hold"
                                : " has more elements than memory can hold",
                            "; check the extents"));
  }
}

std::int64_t checked_size(const char* function, const char* name, std::int64_t size) {
  return checked_sum(function, name, {size});
}

std::int64_t checked_sum(const char* function, const char* name, std::initializer_list<std::int64_t> sizes) {
  std::int64_t sum = 0;
  for (const std::int64_t size : sizes) {
    if (size < 0 || __builtin_add_overflow(sum, size, &sum) || sum > max_elements)
      throw_bad_sizes(function, name, sizes, " + ");
  }
  return sum;
}

std::int64_t checked_product(const char* function, const char* name, std::initializer_list<std::int64_t> sizes) {
  const bool has_zero = std::find(sizes.begin(), sizes.end(), 0) != sizes.end();
  std::int64_t product = 1;
  for (const std::int64_t size : sizes) {
    if (size < 0) throw_bad_sizes(function, name, sizes, " x ");
    if (has_zero) continue;
    if (__builtin_mul_overflow(product, size, &product) || product > max_elements)
      throw_bad_sizes(function, name, sizes, " x ");
  }
  return has_zero ? 0 : product;
}

Shape broadcast_shapes(const Shape& a, const Shape& b, const char* function, const char* name_a, const char* name_b) {
  if (a == b) return a;
  const int rank = std::max(a.rank(), b.rank());
  std::array<std::int64_t, max_rank> extents{};
  for (int axis = -1; axis >= -rank; --axis) {
    const std::int64_t of_a = axis >= -a.rank() ? a[axis] : 1;
    const std::int64_t of_b = axis >= -b.rank() ? b[axis] : 1;
    if (of_a != of_b && of_a != 1 && of_b != 1)
      throw ShapeError(text(function, ": ", name_a, a, " and ", name_b, b, " do not broadcast: axis ", axis, " is ",
                            of_a, " and ", of_b, ", but must be equal or 1; reshape or transpose one of them"));
    extents[index(rank + axis)] = of_a == 1 ? of_b : of_a;
  }
  return Shape(std::span<const std::int64_t>(extents.data(), index(rank)));
}

}  // namespace retrace

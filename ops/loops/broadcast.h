// Reading operands of different shapes side by side, by NumPy's rule.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <type_traits>

#include <retrace/core/tensor/shape.h>

namespace retrace {

inline constexpr std::size_t max_operands = 3;

/// The loops that visit the elements of y in order, and each operand's with them. Axes that every operand walks alike
/// are merged, so that equal shapes need one loop, and a row added to a matrix two. In the innermost loop an operand
/// stands still (stride 0) or walks its elements one by one (stride 1).
struct Broadcast {
  using Offsets = std::array<std::int64_t, max_operands>;

  int loops = 1;
  std::array<std::int64_t, max_rank> extents{1};  // innermost first
  std::array<Offsets, max_rank> strides{};

  /// Operands of shapes that broadcast to y's.
  Broadcast(const Shape& y, std::initializer_list<const Shape*> operands);
  /// Whether the innermost loop leaves the operand where it is.
  bool stands_still(std::size_t operand) const { return strides[0][operand] == 0; }
};

/// A part of the innermost loop: elements first, ..., first + count - 1 of y, and where each operand starts.
struct BroadcastRow {
  std::int64_t first = 0;
  std::int64_t count = 0;
  Broadcast::Offsets offsets{};
};

namespace detail {
using RowBody = void (*)(const void* body, const BroadcastRow& row);
void visit_rows(const Broadcast& broadcast, std::int64_t begin, std::int64_t end, const void* body, RowBody call);
}  // namespace detail

/// Calls body(row) on rows that together are the elements [begin, end) of y, in order. (The walk is compiled once, not
/// for every body: it is a fifth of the time to compile an op of two tensors.)
template <class Body>
void for_each_row(const Broadcast& broadcast, std::int64_t begin, std::int64_t end, const Body& body) {
  detail::visit_rows(broadcast, begin, end, &body,
                     [](const void* f, const BroadcastRow& row) { (*static_cast<const Body*>(f))(row); });
}

/// A stride of the innermost loop, read by stride(): known to the compiler where a loop is to be vectorised.
using Still = std::integral_constant<std::int64_t, 0>;
using Walks = std::integral_constant<std::int64_t, 1>;
struct AnyStride {
  std::int64_t stride;
  std::int64_t operator()() const { return stride; }
};

/// Calls body(stride_a, stride_b) with the innermost strides of two operands of type T. Each kind of row of
/// floating-point numbers gets a loop of its own.
template <class T, class Body> void with_inner_strides(const Broadcast& broadcast, Body&& body) {
  if constexpr (!std::is_floating_point_v<T>)
    body(AnyStride{broadcast.strides[0][0]}, AnyStride{broadcast.strides[0][1]});
  else if (broadcast.stands_still(0))
    body(Still{}, Walks{});
  else if (broadcast.stands_still(1))
    body(Walks{}, Still{});
  else
    body(Walks{}, Walks{});
}

}  // namespace retrace

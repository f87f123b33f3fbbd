#include <array>
#include <utility>

#include <retrace/ops/operands.h>
#include <retrace/ops/ops.h>
#include <retrace/ops/strided.h>

namespace retrace {
namespace {

constexpr OpInfo info{"transpose", "y[i_p0, i_p1, ...] = x[i_0, i_1, ...]", "dx = dy with the axes put back", "x"};

}  // namespace

Tensor transpose(const Tensor& x, std::span<const int> permutation) {
  const int rank = x.rank();
  if (static_cast<int>(permutation.size()) != rank)
    throw ShapeError(text("transpose: a permutation of ", permutation.size(), " axes for ", describe_operand("x", x),
                          "; name each axis once"));
  const auto strides = x.shape().strides();
  std::array<bool, max_rank> seen{};
  Strided strided;
  Shape y = x.shape();
  for (int axis = 0; axis < rank; ++axis) {
    const int from = axis_of(info.name, x, permutation[static_cast<std::size_t>(axis)]);
    if (std::exchange(seen[static_cast<std::size_t>(from)], true))
      throw ShapeError(text("transpose: axis ", from, " of ", describe_operand("x", x),
                            " is named twice in the permutation; name each axis once"));
    strided.strides[static_cast<std::size_t>(axis)] = strides[static_cast<std::size_t>(from)];
    y = y.replaced(axis, x.dim(from));
  }
  return strided_copy(info, reordered_backward, x, y, strided);
}

Tensor transpose(const Tensor& x, std::initializer_list<int> permutation) {
  return transpose(x, std::span(permutation.begin(), permutation.size()));
}

Tensor transpose(const Tensor& x) {
  if (x.rank() < 2)
    throw ShapeError(text("transpose: ", describe_operand("x", x), " has no two axes to exchange; unsqueeze it first"));
  std::array<int, max_rank> permutation{};
  for (int axis = 0; axis < x.rank(); ++axis) permutation[static_cast<std::size_t>(axis)] = axis;
  std::swap(permutation[static_cast<std::size_t>(x.rank() - 1)], permutation[static_cast<std::size_t>(x.rank() - 2)]);
  return transpose(x, std::span<const int>(permutation.data(), static_cast<std::size_t>(x.rank())));
}

}  // namespace retrace
  check_defined(info.name, x, "x");
  check_defined(info.name, x, "x");

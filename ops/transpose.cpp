#include <retrace/ops/loops/strided.h>
#include <retrace/ops/op.h>

namespace retrace {
namespace {

// The permutation, recovered from the strides. Axes of length 1 may come out in another order, which has no effect.
std::array<int, max_rank> permutation_of(const Record& r) {
  const Shape &x = r.in(0).shape, &y = r.out(0).shape;
  const auto strides = x.strides();
  const auto& taken = r.attributes<Strided>().strides;
  std::array<bool, max_rank> seen{};
  std::array<int, max_rank> permutation{};
  for (int axis = 0; axis < y.rank(); ++axis) {
    int from = 0;
    while (seen[static_cast<std::size_t>(from)] || x[from] != y[axis] ||
           strides[static_cast<std::size_t>(from)] != taken[static_cast<std::size_t>(axis)])
      ++from;
    seen[static_cast<std::size_t>(from)] = true;
    permutation[static_cast<std::size_t>(axis)] = from;
  }
  return permutation;
}

// "y = x^T" if only the last two axes are exchanged, otherwise index letters: "y[i, j, k] = x[k, i, j]".
Formulas transpose_formulas(const Record& r) {
  const int rank = r.in(0).shape.rank();
  const std::array<int, max_rank> permutation = permutation_of(r);
  std::array<int, max_rank> place{};  // of each axis of x in y
  bool only_last_two = rank >= 2;
  for (int axis = 0; axis < rank; ++axis) {
    const int from = permutation[static_cast<std::size_t>(axis)];
    place[static_cast<std::size_t>(from)] = axis;
    only_last_two = only_last_two && from == (axis < rank - 2 ? axis : 2 * rank - 3 - axis);
  }
  if (only_last_two) return {"y = x^T", "dx = dy^T"};
  std::string in_x;
  for (int axis = 0; axis < rank; ++axis)
    in_x += (axis == 0 ? "" : ", ") + index_letter(place[static_cast<std::size_t>(axis)]);
  const std::string in_y = index_letters(rank);
  return {text("y[", in_y, "] = x[", in_x, "]"), text("dx[", in_x, "] = dy[", in_y, "]")};
}

AttributeList transpose_attributes(const Record& r) {
  const std::array<int, max_rank> permutation = permutation_of(r);
  return {{"permutation", std::vector<std::int64_t>(permutation.begin(), permutation.begin() + r.in(0).shape.rank())}};
}

constexpr OpInfo transpose_info{"transpose", "y = x^T", "dx = dy^T", "x", transpose_formulas, transpose_attributes};

}  // namespace

Tensor transpose(const Tensor& x, std::span<const int> permutation) {
  check_defined(transpose_info.name, x, "x");
  const int rank = x.rank();
  if (static_cast<int>(permutation.size()) != rank)
    throw ShapeError(text("transpose: a permutation of ", permutation.size(), " axes for ", describe_operand("x", x),
                          "; name each axis once"));
  const auto strides = x.shape().strides();
  std::array<bool, max_rank> seen{};
  Strided strided;
  Shape y = x.shape();
  for (int axis = 0; axis < rank; ++axis) {
    const int from = axis_of(transpose_info.name, x, permutation[static_cast<std::size_t>(axis)]);
    if (std::exchange(seen[static_cast<std::size_t>(from)], true))
      throw ShapeError(text("transpose: axis ", from, " of ", describe_operand("x", x),
                            " is named twice in the permutation; name each axis once"));
    strided.strides[static_cast<std::size_t>(axis)] = strides[static_cast<std::size_t>(from)];
    y = y.replaced(axis, x.dim(from));
  }
  return strided_copy(transpose_info, reordered_backward, x, y, strided);
}

Tensor transpose(const Tensor& x, std::initializer_list<int> permutation) {
  return transpose(x, std::span(permutation.begin(), permutation.size()));
}

Tensor transpose(const Tensor& x) {
  check_defined(transpose_info.name, x, "x");
  if (x.rank() < 2)
    throw ShapeError(text("transpose: ", describe_operand("x", x), " has no two axes to exchange; unsqueeze it first"));
  std::array<int, max_rank> permutation{};
  for (int axis = 0; axis < x.rank(); ++axis) permutation[static_cast<std::size_t>(axis)] = axis;
  std::swap(permutation[static_cast<std::size_t>(x.rank() - 1)], permutation[static_cast<std::size_t>(x.rank() - 2)]);
  return transpose(x, std::span<const int>(permutation.data(), static_cast<std::size_t>(x.rank())));
}

}  // namespace retrace

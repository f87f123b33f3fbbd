// diagonal, its inverse diag_embed, and diag, which is one or the other.
#include <cstdlib>

#include <retrace/ops/loops/strided.h>
#include <retrace/ops/op.h>

namespace retrace {
namespace {

/// Where the elements of a diagonal of matrices lie; element i in row i, `offset` columns to the right.
Strided place_of_diagonal(const Shape& matrices, std::int64_t offset) {
  const std::int64_t columns = matrices[-1];
  const std::size_t row = static_cast<std::size_t>(matrices.rank() - 2);
  Strided result{offset >= 0 ? offset : -offset * columns, matrices.strides()};
  result.strides[row] = columns + 1;
  result.strides[row + 1] = 0;
  return result;
}

/// "[i, j, j + 1]" and "[i, j]" of matrices and their diagonals.
std::pair<std::string, std::string> indices_of(const Shape& matrices, const Strided& place) {
  const int rank = matrices.rank();
  const std::string letter = index_letter(rank - 2), diagonal = index_letters(rank - 1);
  const std::string before = diagonal.substr(0, diagonal.size() - letter.size());
  const bool above = place.offset < matrices[-1];
  const std::int64_t apart = above ? place.offset : place.offset / std::max<std::int64_t>(1, matrices[-1]);
  const std::string far = apart == 0 ? letter : text(letter, " + ", apart);
  return {text("[", before, above ? letter : far, ", ", above ? far : letter, "]"), text("[", diagonal, "]")};
}

Formulas diagonal_formulas(const Record& r) {
  const auto [in_x, in_y] = indices_of(r.in(0).shape, r.attributes<Strided>());
  return {text("y", in_y, " = x", in_x), text("dx", in_x, " += dy", in_y)};
}
constexpr OpInfo diagonal_info{"diagonal", "y[i] = x[i, i + k]", "dx[i, i + k] += dy[i]",
                               "x",        diagonal_formulas,    part_attributes};

Formulas embed_formulas(const Record& r) {
  const auto [in_y, in_x] = indices_of(r.out(0).shape, r.attributes<Strided>());
  return {text("y = 0, y", in_y, " = x", in_x), text("dx", in_x, " = dy", in_y)};
}
AttributeList embed_attributes(const Record& r) {
  const Strided& place = r.attributes<Strided>();
  const auto end = place.strides.begin() + r.in(0).shape.rank();
  return {{"offset", place.offset}, {"strides", std::vector(place.strides.begin(), end)}};
}
constexpr OpInfo embed_info{"diag_embed",    "y = 0, y[i, i + k] = x[i]", "dx[i] = dy[i, i + k]", "x", embed_formulas,
                            embed_attributes};

void embed_backward(Record& r) {
  const StridedWalk walk(r.in(0).shape, r.attributes<Strided>());
  dispatch_real(r.in(0).dtype, embed_info.name,
                [&]<class T>(T) { read_strided(walk, r.grad_out<T>(), r.grad_in<T>(0)); });
}

}  // namespace

Tensor diagonal(const Tensor& x, std::int64_t offset) {
  check_defined(diagonal_info.name, x, "x");
  if (x.rank() < 2)
    throw ShapeError(text("diagonal: ", describe_operand("x", x),
                          " is no matrix; it needs two axes or more: diag_embed makes a matrix of a vector"));
  const std::int64_t rows = x.dim(-2), columns = x.dim(-1);
  const bool crosses = offset > -rows && offset < columns;
  const std::int64_t length = crosses ? std::min({rows, columns, rows + offset, columns - offset}) : 0;
  const Shape shape = x.shape().first(x.rank() - 2).inserted(x.rank() - 2, length);
  return strided_copy(diagonal_info, part_backward, x, shape, place_of_diagonal(x.shape(), crosses ? offset : 0));
}

Tensor diag_embed(const Tensor& x, std::int64_t offset) {
  check_defined(embed_info.name, x, "x");
  if (x.rank() == 0)
    throw ShapeError(text("diag_embed: ", describe_operand("x", x), " is 0-d and has no axis; reshape it first"));
  check_rank(embed_info.name, x, x.rank() + 1);
  const std::int64_t aside = std::abs(std::max(offset, -max_elements));
  const std::int64_t side = checked_sum(embed_info.name, "the side", {x.dim(-1), aside});
  const Shape shape = x.shape().replaced(x.rank() - 1, side).inserted(x.rank(), side);
  check_numel(shape, embed_info.name);
  const Strided place = place_of_diagonal(shape, offset);
  Tensor y = zeros(shape, x.dtype());
  dispatch_any(x.dtype(), [&]<class T>(T) {
    write_strided(StridedWalk(x.shape(), place), x.values<T>().data(), {OpAccess::values<T>(y), false});
  });
  record(embed_info, embed_backward, {&x}, {&y}, {}, place);
  return y;
}

Tensor diag(const Tensor& x, std::int64_t offset) {
  check_defined("diag", x, "x");
  if (x.rank() != 1 && x.rank() != 2)
    throw ShapeError(text("diag: ", describe_operand("x", x),
                          " is no vector and no matrix; use diag_embed for many vectors, diagonal for many matrices"));
  return x.rank() == 1 ? diag_embed(x, offset) : diagonal(x, offset);
}

}  // namespace retrace

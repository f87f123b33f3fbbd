// split_heads and combine_heads, of reshape and transpose.
#include <numeric>

#include <retrace/ops/op.h>

namespace retrace {
namespace {

// x with the second and the third axis from the end exchanged: heads and rows.
Tensor exchange(const Tensor& x) {
  std::array<int, max_rank> permutation{};
  const std::size_t rank = static_cast<std::size_t>(x.rank());
  std::iota(permutation.begin(), permutation.end(), 0);
  std::swap(permutation[rank - 3], permutation[rank - 2]);
  return transpose(x, std::span<const int>(permutation.data(), rank));
}

}  // namespace

Tensor split_heads(const Tensor& x, int heads) {
  check_defined("split_heads", x, "x");
  const int rank = x.rank();
  if (rank < 2)
    throw ShapeError(
        text("split_heads: ", describe_operand("x", x), " must be [..., length, features]; unsqueeze it first"));
  check_rank("split_heads", x, rank + 1);
  if (heads < 1 || x.dim(-1) % heads != 0)
    throw ShapeError(text("split_heads: ", heads, " heads do not divide the ", x.dim(-1), " features of ",
                          describe_operand("x", x), "; choose a divisor"));
  return exchange(reshape(x, x.shape().replaced(rank - 1, heads).inserted(rank, x.dim(-1) / heads)));
}

Tensor combine_heads(const Tensor& x) {
  check_defined("combine_heads", x, "x");
  const int rank = x.rank();
  if (rank < 3)
    throw ShapeError(text("combine_heads: ", describe_operand("x", x),
                          " must be [..., heads, length, features]; give it what split_heads gave"));
  const Shape combined = x.shape().erased(rank - 3).replaced(rank - 2, x.dim(-3) * x.dim(-1));
  return reshape(exchange(x), combined);
}

}  // namespace retrace

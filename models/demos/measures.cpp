#include <retrace/models/demos/measures.h>

#include <algorithm>
#include <limits>

namespace retrace {

double length_of(const Tensor& x) { return norm(x).item(); }

double deviation_of(const Tensor& x) { return sqrt(var(x)).item(); }

double largest_difference(const Tensor& a, const Tensor& b) { return max(abs(a - b)).item(); }

double smallest_distance(const Tensor& rows, std::int64_t first) {
  double smallest = std::numeric_limits<double>::infinity();
  for (std::int64_t i = first; i < rows.dim(0); ++i)
    for (std::int64_t j = i + 1; j < rows.dim(0); ++j) {
      const Tensor one = rows[i], other = rows[j];
      smallest = std::min(smallest, length_of(one - other));
    }
  return smallest;
}

std::int64_t rank_of(const Tensor& rows, double tolerance) {
  const double smallest = tolerance * max(norm(rows, -1)).item();
  Tensor left = rows;
  for (std::int64_t rank = 0; rank < rows.dim(0); ++rank) {
    const Tensor lengths = norm(left, -1);
    const Tensor longest = left[static_cast<std::int64_t>(argmax(lengths).item())];
    const double length = length_of(longest);
    if (length <= smallest) return rank;
    const Tensor direction = longest / length;
    left = left - outer(matmul(left, direction), direction);
  }
  return rows.dim(0);
}

double effective_rank(const Tensor& rows) {
  const Tensor products = matmul(rows, rows, {.transpose_b = true});
  const double trace = sum(square(rows)).item();
  return trace * trace / sum(square(products)).item();
}

}  // namespace retrace

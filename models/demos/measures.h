// Measurements of tensors for the demos.
#pragma once

#include <retrace/ops/ops.h>

namespace retrace {

/// sqrt(sum x^2).
double length_of(const Tensor& x);
/// sqrt(mean (x - mean)^2).
double deviation_of(const Tensor& x);
/// max |a - b|; the shapes are equal.
double largest_difference(const Tensor& a, const Tensor& b);
/// The smallest distance |a_i - a_j| between two of the rows [first, N) of a [N, S]; infinite for fewer than two.
double smallest_distance(const Tensor& rows, std::int64_t first = 0);
/// The number of rows of a [N, S] that are left when each is freed of the longer ones' directions, those shorter than
/// `tolerance` times the longest row not counted.
std::int64_t rank_of(const Tensor& rows, double tolerance = 1e-6);
/// (sum lambda)^2 / sum lambda^2 of the eigenvalues of a a^T: N for orthogonal rows of equal length, 1 for parallel
/// ones. NaN if all are zero.
double effective_rank(const Tensor& rows);

}  // namespace retrace

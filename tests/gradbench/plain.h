// The functions of GradBench's evals once more, from their formulas in plain loops over doubles, for comparison.
#pragma once

#include <functional>
#include <span>
#include <vector>

namespace plain {

using Numbers = std::vector<double>;
using Matrix = std::vector<Numbers>;

/// The elements of the rows, one after the other.
Numbers joined(const Matrix& rows);
/// The rows of a matrix with this number of columns.
Matrix rows_of(std::span<const double> numbers, std::size_t columns);
/// The gradient of f by central differences.
Numbers differences(const std::function<double(const Numbers&)>& f, Numbers x);

double determinant(const Matrix& a);
/// ln of the posterior of a mixture of Gaussians, from the densities of the Gaussians and of Wishart's distribution.
/// The parameters are alpha [k], mu [k, d], q [k, d] and l [k, d (d - 1) / 2], one after the other.
double log_posterior(const Numbers& parameters, const Matrix& x, std::size_t k, double gamma, double m);
/// The parameters are the weights, 2 rows of 4 b per layer, then the 3 rows of b for input and output.
double lstm_loss(const Numbers& parameters, Matrix state, const Matrix& letters);
double least_squares(const Numbers& x, int n);
/// The two errors of an observation, from camera (11), point (3) and weight.
Numbers projection_errors(const Numbers& x, const Numbers& seen);

/// A hand: see benchmarks/gradbench/ht.cpp. The matrices of the bones are rows of 16.
struct Hand {
  std::vector<int> parents;
  Matrix relatives, inverses, vertices, weights;
  bool mirrored;
};
/// The posed vertices, rows of 3.
Matrix posed(const Numbers& theta, const Hand& hand);

/// The square of the abscissa at which the particle of the eval `particle` reaches the axis.
double miss(double w);

}  // namespace plain

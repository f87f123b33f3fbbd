// Entropy and mutual information of counts, in bits.
#pragma once

#include <span>
#include <vector>

namespace retrace {

/// -sum p log2 p, where p is the weights divided by their sum; 0 if all are 0. Weights are 0 or more.
double entropy(std::span<const double> weights);
/// The number of equally likely values with that entropy: 2^entropy.
double effective_number(std::span<const double> weights);

/// Joint counts of two variables: counts[a][b].
using Counts = std::vector<std::vector<double>>;

/// The mutual information H(a) + H(b) - H(a, b), never below 0. Finite counts overestimate it by about (values of a -
/// 1) (values of b - 1) / (2 ln 2 sum), which is subtracted (the correction of Miller and Madow).
double mutual_information(const Counts& counts);

}  // namespace retrace

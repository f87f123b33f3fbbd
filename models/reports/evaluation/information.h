// Entropy and mutual information of counted things, in bits.
#pragma once

#include <span>
#include <vector>

namespace retrace {

/// -sum p log2 p of weights that are 0 or more, p being their shares; 0 where all are 0.
double entropy(std::span<const double> weights);
/// How many equally likely things have that entropy: 2^entropy.
double effective_number(std::span<const double> weights);

/// Counts of what comes together with what: counts[a][b].
using Counts = std::vector<std::vector<double>>;

/// What a tells of b and b of a: H(a) + H(b) - H(a, b), never below 0. From finite counts it is too large by about
/// (values of a - 1) (values of b - 1) / (2 ln 2 sum): Miller and Madow's correction, which is subtracted.
double mutual_information(const Counts& counts);

}  // namespace retrace

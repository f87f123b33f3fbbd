#include <retrace/models/reports/evaluation/information.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

namespace retrace {
namespace {

double total_of(std::span<const double> weights) { return std::accumulate(weights.begin(), weights.end(), 0.0); }

double count_positive(std::span<const double> weights) {
  return static_cast<double>(std::ranges::count_if(weights, [](double weight) { return weight > 0; }));
}

}  // namespace

double entropy(std::span<const double> weights) {
  const double total = total_of(weights);
  double bits = 0;
  for (const double weight : weights)
    if (weight > 0) bits -= weight / total * std::log2(weight / total);
  return bits;
}

double effective_number(std::span<const double> weights) { return std::exp2(entropy(weights)); }

double mutual_information(const Counts& counts) {
  std::vector<double> of_a, of_b(counts.empty() ? 0 : counts.front().size()), of_both;
  for (const std::vector<double>& row : counts) {
    of_a.push_back(total_of(row));
    std::ranges::transform(of_b, row, of_b.begin(), std::plus());
    of_both.insert(of_both.end(), row.begin(), row.end());
  }
  const double total = total_of(of_a);
  if (!(total > 0)) return 0;
  const double bias = (count_positive(of_a) - 1) * (count_positive(of_b) - 1) / (2 * std::numbers::ln2 * total);
  return std::max(0.0, entropy(of_a) + entropy(of_b) - entropy(of_both) - bias);
}

}  // namespace retrace

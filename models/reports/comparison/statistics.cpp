#include <retrace/core/base/error.h>
#include <retrace/models/reports/comparison/statistics.h>

#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

namespace retrace {
namespace {

/// The 0.975 quantile of Student's t with `freedom` degrees of freedom, 1 or more.
double t_quantile(std::size_t freedom) {
  constexpr std::array table{12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
                             2.201,  2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
                             2.080,  2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042};
  return freedom <= table.size() ? table[freedom - 1] : 1.96 + 2.4 / static_cast<double>(freedom);
}

}  // namespace

Summary summarise(std::span<const double> numbers) {
  if (numbers.empty()) throw ValueError("summarise: there are no numbers; give one or more");
  const double n = static_cast<double>(numbers.size());
  Summary sample{.mean = std::accumulate(numbers.begin(), numbers.end(), 0.0) / n, .deviation = 0, .half_width = 0};
  if (numbers.size() == 1) {
    sample.half_width = std::numeric_limits<double>::infinity();
    return sample;
  }
  for (const double number : numbers) sample.deviation += (number - sample.mean) * (number - sample.mean) / (n - 1);
  sample.deviation = std::sqrt(sample.deviation);
  sample.half_width = t_quantile(numbers.size() - 1) * sample.deviation / std::sqrt(n);
  return sample;
}

Summary summarise_differences(std::span<const double> a, std::span<const double> b) {
  if (a.size() != b.size())
    throw ValueError(text("summarise_differences: ", a.size(), " numbers and ", b.size(), "; they come in pairs"));
  std::vector<double> differences(a.size());
  for (std::size_t k = 0; k < a.size(); ++k) differences[k] = a[k] - b[k];
  return summarise(differences);
}

}  // namespace retrace

#include <retrace/tests/golden_test/comparison.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

namespace retrace::golden {
Tolerance tolerance_f32(double largest_input) {
  constexpr double rounding = 0x1p-24;
  return {.rtol = 64 * rounding, .atol = rounding * (64 + largest_input), .of_largest = true};
}

double largest_finite(const Tensor& x) {
  double largest = 0;
  const Tensor numbers = x.to(f64);
  for (const double value : numbers.values<double>())
    if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
  return largest;
}

std::string difference(const Tensor& got, const Tensor& want, const Tolerance& tolerance) {
  if (got.shape() != want.shape()) return text("has shape ", got.shape(), " instead of ", want.shape());
  const Tensor got_f64 = got.to(f64);
  const Tensor want_f64 = got.dtype() == f32 ? want.to(f32).to(f64) : want.to(f64);
  const auto g = got_f64.values<double>(), w = want_f64.values<double>();
  const double largest = largest_finite(want_f64);
  double worst = 1;  // of |got - want| / limit
  std::ostringstream message;
  for (std::size_t k = 0; k < g.size(); ++k) {
    if (g[k] == w[k]) continue;
    const double limit = tolerance.atol + tolerance.rtol * (tolerance.of_largest ? largest : std::abs(w[k]));
    const double ratio = std::isfinite(g[k]) && std::isfinite(w[k]) ? std::abs(g[k] - w[k]) / limit
                                                                    : std::numeric_limits<double>::infinity();
    if (ratio <= worst) continue;
    worst = ratio;
    message.str("");
    message.precision(17);
    message << "element " << k << " of " << g.size() << " is " << g[k] << " instead of " << w[k] << " (" << worst
            << " times the limit " << limit << ")";
  }
  return message.str();
}

}  // namespace retrace::golden

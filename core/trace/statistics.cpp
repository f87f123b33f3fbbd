#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include <retrace/core/trace/trace.h>

namespace retrace {

Statistics statistics_of(const Tensor& x) {
  constexpr double infinity = std::numeric_limits<double>::infinity(), none = std::numeric_limits<double>::quiet_NaN();
  Statistics result{infinity, -infinity, 0, 0, 0, 0};
  std::int64_t finite = 0;
  double sum = 0, largest = 0, squares = 0;  // the norm is largest sqrt(squares), which does not overflow
  dispatch_any(x.dtype(), [&](auto zero) {
    for (const auto element : x.values<decltype(zero)>()) {
      const double number = static_cast<double>(element);
      if (std::isnan(number)) {
        ++result.nans;
      } else if (std::isinf(number)) {
        ++result.infinities;
      } else {
        ++finite;
        sum += number;
        result.min = std::min(result.min, number);
        result.max = std::max(result.max, number);
        const double size = std::abs(number);
        if (size > largest) {
          squares = 1 + squares * (largest / size) * (largest / size);
          largest = size;
        } else if (size > 0) {
          squares += (size / largest) * (size / largest);
        }
      }
    }
  });
  if (finite == 0) return {none, none, none, none, result.nans, result.infinities};
  result.mean = sum / static_cast<double>(finite);
  result.norm = largest * std::sqrt(squares);
  return result;
}

std::string short_text(const Capture& capture) {
  if (!capture.exists()) return "";
  const Tensor& x = capture.values;
  const bool all_fit = capture.is_complete() && x.numel() <= 4;
  const std::int64_t shown = all_fit ? x.numel() : std::min<std::int64_t>(3, x.numel());
  std::string result = "(";
  dispatch_any(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    using Shown = std::conditional_t<std::is_same_v<T, std::int64_t>, std::int64_t, double>;
    const auto values = x.values<T>();
    for (std::int64_t k = 0; k < shown; ++k)
      result += text(k == 0 ? "" : ", ", static_cast<Shown>(values[static_cast<std::size_t>(k)]));
  });
  if (all_fit) return result + ")";
  const Statistics all = capture.statistics ? *capture.statistics : statistics_of(x);
  return result + text(", ...; norm ", all.norm, all.nans > 0 ? text(", ", all.nans, " NaN") : std::string(),
                       all.infinities > 0 ? text(", ", all.infinities, " infinite") : std::string(), ")");
}

}  // namespace retrace

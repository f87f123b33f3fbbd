// Sums whose order depends on their length alone, so that neither threads nor neighbours can change a bit.
#pragma once

#include <array>
#include <cstdint>
#include <type_traits>

namespace retrace {

/// The type to sum elements of type T in: a million floats summed as floats would lose half of their digits.
template <class T>
using Wide = std::conditional_t<std::is_same_v<T, float>, double, T>;

/// term(0) + ... + term(count - 1), in eight interleaved chains; floats are summed as doubles.
template <class T, class Term>
T ordered_sum(std::int64_t count, const Term& term) {
  constexpr std::int64_t width = 8;
  std::array<Wide<T>, width> lanes{};
  const std::int64_t whole = count / width * width;
  for (std::int64_t k = 0; k < whole; k += width)
    for (std::int64_t lane = 0; lane < width; ++lane)
      lanes[static_cast<std::size_t>(lane)] += static_cast<Wide<T>>(term(k + lane));
  for (std::int64_t k = whole; k < count; ++k)
    lanes[static_cast<std::size_t>(k - whole)] += static_cast<Wide<T>>(term(k));
  for (std::size_t half = width / 2; half > 0; half /= 2)
    for (std::size_t lane = 0; lane < half; ++lane) lanes[lane] += lanes[lane + half];
  return static_cast<T>(lanes[0]);
}

}  // namespace retrace

// Sums whose order depends on their length alone, so that neither threads nor neighbours can change a bit.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace retrace {

/// The type to compute with elements of type T: integers wrap around on overflow, as in NumPy, which is undefined in
/// C++ for signed ones.
template <class T>
using Modular = typename std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>, std::type_identity<T>>::type;

/// The type to sum elements of type T in: a million floats summed as floats would lose half of their digits.
template <class T> using Wide = std::conditional_t<std::is_same_v<T, float>, double, Modular<T>>;

/// The largest finite number of type T.
template <class T>
inline constexpr double largest_number = std::is_same_v<T, float> ? double{std::numeric_limits<float>::max()}
                                                                  : std::numeric_limits<double>::max();

/// Elements k, k + ordered_chains, k + 2 ordered_chains, ... make chain k, and then the chains are added in pairs.
inline constexpr std::int64_t ordered_chains = 8;

/// term(0) + ... + term(count - 1), in interleaved chains; floats are summed as doubles.
template <class T, class Term> T ordered_sum(std::int64_t count, const Term& term) {
  constexpr std::int64_t width = ordered_chains;
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

inline constexpr std::int64_t columns_at_once = 16;

/// sums[c] = x[c] + x[stride + c] + ... of `count` rows, for `columns` (at most columns_at_once) columns c side by
/// side: the bits are those of ordered_sum for each.
template <class T>
void ordered_column_sums(const T* x, std::int64_t count, std::int64_t stride, std::int64_t columns, Wide<T>* sums) {
  Wide<T> chain[ordered_chains][columns_at_once] = {};
  for (std::int64_t row = 0; row < count; ++row)
    for (std::int64_t c = 0; c < columns; ++c)
      chain[row % ordered_chains][c] += static_cast<Wide<T>>(x[row * stride + c]);
  for (std::int64_t half = ordered_chains / 2; half > 0; half /= 2)
    for (std::int64_t k = 0; k < half; ++k)
      for (std::int64_t c = 0; c < columns_at_once; ++c) chain[k][c] += chain[k + half][c];
  std::copy(chain[0], chain[0] + columns, sums);
}

}  // namespace retrace

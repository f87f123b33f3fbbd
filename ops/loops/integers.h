// Arithmetic on elements of any type. Integers wrap around on overflow, as in NumPy; it is done unsigned, because
// signed overflow is undefined in C++.
#pragma once

#include <concepts>
#include <cstdint>

namespace retrace {

/// a + b, modulo 2^64 for i64.
template <class T> T wrapping_add(T a, T b) {
  if constexpr (std::integral<T>)
    return static_cast<T>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
  else
    return a + b;
}
/// a - b, modulo 2^64 for i64.
template <class T> T wrapping_sub(T a, T b) {
  if constexpr (std::integral<T>)
    return static_cast<T>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
  else
    return a - b;
}
/// a b, modulo 2^64 for i64.
template <class T> T wrapping_mul(T a, T b) {
  if constexpr (std::integral<T>)
    return static_cast<T>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
  else
    return a * b;
}
/// -x, modulo 2^64 for i64.
template <class T> T wrapping_neg(T x) {
  if constexpr (std::integral<T>)
    return static_cast<T>(-static_cast<std::uint64_t>(x));
  else
    return -x;
}

}  // namespace retrace

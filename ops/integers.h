// The arithmetic of elements of any type. Integers wrap around at the ends of their range, as NumPy's do: in C++ signed
// overflow is undefined, that of unsigned integers is not.
#pragma once

#include <concepts>
#include <cstdint>

namespace retrace {

/// a + b.
template <class T>
T wrapping_add(T a, T b) {
  if constexpr (std::integral<T>)
    return static_cast<T>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
  else
    return a + b;
}
/// a - b.
template <class T>
T wrapping_sub(T a, T b) {
  if constexpr (std::integral<T>)
    return static_cast<T>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
  else
    return a - b;
}
/// a b.
template <class T>
T wrapping_mul(T a, T b) {
  if constexpr (std::integral<T>)
    return static_cast<T>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
  else
    return a * b;
}
/// -x.
template <class T>
T wrapping_neg(T x) {
  if constexpr (std::integral<T>)
    return static_cast<T>(-static_cast<std::uint64_t>(x));
  else
    return -x;
}

}  // namespace retrace

// Floats of 2 bytes, as files have them.
#pragma once

#include <bit>
#include <cstdint>

namespace retrace {

/// The number of an IEEE 754 binary16: a sign, 5 bits of exponent, 10 of fraction. Zeros and subnormal numbers are
/// multiples of 2^-24.
inline float from_half(std::uint16_t bits) {
  const std::uint32_t sign = std::uint32_t{bits} >> 15 << 31, magnitude = bits & 0x7fffU;
  const bool is_finite = magnitude < 0x7c00;
  if (magnitude < 0x0400)
    return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(0x1p-24F * static_cast<float>(magnitude)));
  const std::uint32_t exponent_shift = (is_finite ? 127U - 15U : 255U - 31U) << 23;
  return std::bit_cast<float>(sign | ((magnitude << 13) + exponent_shift));
}

}  // namespace retrace

// The checksum in the files that Retrace writes.
#pragma once

#include <cstddef>
#include <cstdint>

namespace retrace {

/// CRC-64/XZ, computed incrementally: polynomial 0x42F0E1EBA9EA3693, bits reflected, inverted before and after. Detects
/// every error burst of up to 64 bits, and any other damage with probability 1 - 2^-64.
class Crc64 {
 public:
  void add(const void* bytes, std::size_t count);
  std::uint64_t value() const { return ~remainder_; }

 private:
  std::uint64_t remainder_ = ~std::uint64_t{0};
};

}  // namespace retrace

// The checksum of the files that Retrace writes.
#pragma once

#include <cstddef>
#include <cstdint>

namespace retrace {

/// CRC-64/XZ of bytes that come in portions: polynomial 0x42F0E1EBA9EA3693, bits reflected, inverted before and after.
/// Finds every damage within 64 bits in a row, so each single bit, and any other with a probability of 1 - 2^-64.
class Crc64 {
 public:
  void add(const void* bytes, std::size_t count);
  std::uint64_t value() const { return ~remainder_; }

 private:
  std::uint64_t remainder_ = ~std::uint64_t{0};
};

}  // namespace retrace

#include <gtest/gtest.h>
#include <retrace/core/files/crc64.h>

#include <string>
#include <string_view>

namespace retrace {
namespace {

std::uint64_t crc64(std::string_view bytes) {
  Crc64 checksum;
  checksum.add(bytes.data(), bytes.size());
  return checksum.value();
}

/// Bit by bit, as the polynomial is defined.
std::uint64_t crc64_by_bits(std::string_view bytes) {
  std::uint64_t remainder = ~std::uint64_t{0};
  for (const char byte : bytes) {
    remainder ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) remainder = (remainder >> 1) ^ ((remainder & 1) != 0 ? 0xC96C5795D7870F42 : 0);
  }
  return ~remainder;
}

TEST(Crc64, IsThatOfTheCatalogue) {
  EXPECT_EQ(crc64("123456789"), 0x995DC9BBDF1939FA);  // the check value of CRC-64/XZ
  EXPECT_EQ(crc64(""), 0U);
}

TEST(Crc64, IsTheRemainderAtEveryLengthAndPlaceInARound) {
  std::string bytes;
  for (int k = 0; k < 100; ++k) {
    EXPECT_EQ(crc64(bytes), crc64_by_bits(bytes)) << k;
    bytes += static_cast<char>(k * 37);
  }
}

TEST(Crc64, DoesNotDependOnThePortions) {
  const std::string bytes = "a checkpoint is written and read in portions of any size";
  for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
    Crc64 checksum;
    checksum.add(bytes.data(), cut);
    checksum.add(bytes.data() + cut, bytes.size() - cut);
    EXPECT_EQ(checksum.value(), crc64(bytes)) << cut;
  }
}

}  // namespace
}  // namespace retrace

#include <gtest/gtest.h>
#include <retrace/core/files/base64.h>

#include <array>
#include <string_view>

namespace retrace {
namespace {

std::string base64_of(std::string_view bytes) { return base64(std::as_bytes(std::span(bytes))); }

TEST(Base64, IsThatOfTheStandard) {  // the test vectors of RFC 4648, section 10
  EXPECT_EQ(base64_of(""), "");
  EXPECT_EQ(base64_of("f"), "Zg==");
  EXPECT_EQ(base64_of("fo"), "Zm8=");
  EXPECT_EQ(base64_of("foo"), "Zm9v");
  EXPECT_EQ(base64_of("foob"), "Zm9vYg==");
  EXPECT_EQ(base64_of("fooba"), "Zm9vYmE=");
  EXPECT_EQ(base64_of("foobar"), "Zm9vYmFy");
}

TEST(Base64, OfBytesThatAreNoText) {
  const std::array<unsigned char, 6> bytes = {0xFB, 0xFF, 0xBF, 0x00, 0x00, 0x80};
  EXPECT_EQ(base64(std::as_bytes(std::span(bytes))), "+/+/AACA");
}

}  // namespace
}  // namespace retrace

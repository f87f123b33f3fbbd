// Where a file that Retrace wrote has its checksum: the first entry of its metadata, at a fixed place, so that it is
// found before anything else in the file is believed.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace retrace {

inline constexpr const char* checksum_key = "retrace.crc64";
/// The beginning of the header, behind the 8 bytes of its length; the digits follow it.
inline constexpr std::string_view checksum_mark = R"({"__metadata__":{"retrace.crc64":")";
/// A CRC-64 in hexadecimal. It is taken of the whole file with these instead of its own digits.
inline constexpr std::string_view blank_digits = "0000000000000000";

inline std::string checksum_digits(std::uint64_t checksum) {
  std::string digits;
  for (int shift = 60; shift >= 0; shift -= 4) digits += "0123456789abcdef"[checksum >> shift & 15];
  return digits;
}

}  // namespace retrace

// The place of the checksum in a file that Retrace wrote: the first entry of the metadata, at a fixed offset, so that
// it can be verified before anything else in the file is trusted.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace retrace {

inline constexpr const char* checksum_key = "retrace.crc64";
/// The beginning of the header, after the 8 bytes of its length; the digits follow.
inline constexpr std::string_view checksum_mark = R"({"__metadata__":{"retrace.crc64":")";
/// Stands in for the digits of the CRC-64 while it is computed over the whole file.
inline constexpr std::string_view blank_digits = "0000000000000000";

inline std::string checksum_digits(std::uint64_t checksum) {
  std::string digits;
  for (int shift = 60; shift >= 0; shift -= 4) digits += "0123456789abcdef"[checksum >> shift & 15];
  return digits;
}

}  // namespace retrace

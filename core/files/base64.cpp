#include <algorithm>
#include <string_view>

#include <retrace/core/files/base64.h>

namespace retrace {

std::string base64(std::span<const std::byte> bytes) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string result;
  result.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t k = 0; k < bytes.size(); k += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - k);
    unsigned group = 0;
    for (std::size_t i = 0; i < 3; ++i) group = group << 8 | (i < count ? std::to_integer<unsigned>(bytes[k + i]) : 0);
    for (std::size_t i = 0; i < 4; ++i) result += i <= count ? digits[group >> (18 - 6 * i) & 63] : '=';
  }
  return result;
}

}  // namespace retrace

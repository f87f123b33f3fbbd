// What a stored study page holds.
#pragma once

#include <retrace/models/data/inflate.h>
#include <retrace/tests/temporary_folder.h>

#include <fstream>
#include <string>
#include <string_view>

namespace retrace {

inline std::string bytes_of_base64(std::string_view text) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  unsigned bits = 0;
  int count = 0;
  for (const char c : text) {
    if (c == '=') break;
    bits = bits << 6 | static_cast<unsigned>(digits.find(c));
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes.push_back(static_cast<char>(bits >> count & 255u));
  }
  return bytes;
}

/// The trace in the page of this path, as models/study/page_data.h writes it: JSON first.
inline std::string page_contents(const std::string& path) {
  const std::string page = file_bytes(path), mark = "id=\"trace-data\">";
  const std::size_t begin = page.find(mark) + mark.size();
  const std::string data = page.substr(begin, page.find("</script>", begin) - begin);
  if (page.find("application/gzip\" " + mark) == std::string::npos) return data;
  const TemporaryFolder folder;
  std::ofstream(folder / "data.gz", std::ios::binary) << bytes_of_base64(data);
  return read_plain_or_gzip(folder / "data.gz", "page_contents");
}

}  // namespace retrace

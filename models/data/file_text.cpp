#include <retrace/core/base/error.h>
#include <retrace/core/base/utf8.h>
#include <retrace/models/data/file_text.h>
#include <retrace/models/data/inflate.h>

#include <algorithm>
#include <array>

namespace retrace {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view utf8_mark = "\xEF\xBB\xBF";

/// The first bytes of a text in another encoding; a longer mark comes before one that it begins with.
struct Mark {
  std::string_view bytes, encoding;
};
constexpr std::array other_marks{Mark{"\xFF\xFE\0\0"sv, "UTF-32"}, Mark{"\0\0\xFE\xFF"sv, "UTF-32"},
                                 Mark{"\xFF\xFE"sv, "UTF-16"}, Mark{"\xFE\xFF"sv, "UTF-16"}};

}  // namespace

std::int64_t line_of(std::string_view text, std::size_t position) {
  std::int64_t line = 1;
  for (std::size_t k = 0; k < position; ++k)
    if (text[k] == '\n' || (text[k] == '\r' && !text.substr(k + 1).starts_with('\n'))) ++line;
  return line;
}

void check_utf8(std::string_view utf8, std::string_view what) {
  for (std::size_t position = 0, count = 0; position < utf8.size(); position += count) {
    count = utf8_length(utf8.substr(position));
    if (count == 0)
      throw ValueError(text(what, " is not UTF-8: byte ", position, ", in line ", line_of(utf8, position),
                            ", begins no character; convert it: iconv -f WINDOWS-1252 -t UTF-8, if Windows wrote it"));
  }
}

void check_storable(const std::string& path, const std::string& who) {
  if (!is_utf8(path))
    throw ValueError(text(who, ": the name of the file ", path, " is not UTF-8, and a stored model would not find it ",
                          "again; rename it"));
}

std::string utf8_text(std::string bytes, const std::string& who) {
  for (const Mark& mark : other_marks)
    if (bytes.starts_with(mark.bytes))
      throw FileError(
          text(who, " is ", mark.encoding, ", not UTF-8; convert it: iconv -f ", mark.encoding, " -t UTF-8"));
  if (bytes.starts_with(utf8_mark)) bytes.erase(0, utf8_mark.size());
  if (const std::size_t zero = bytes.find('\0'); zero != std::string::npos)
    throw FileError(text(who, " has a zero byte in line ", line_of(bytes, zero),
                         ", so it is no text, or one in UTF-16; convert it: iconv -f UTF-16LE -t UTF-8"));
  try {
    check_utf8(bytes, who);
  } catch (const ValueError& error) {
    throw FileError(error.what());
  }
  return bytes;
}

std::string read_utf8_file(const std::string& path, const std::string& who) {
  return utf8_text(read_plain_or_gzip(path, who), who);
}

}  // namespace retrace

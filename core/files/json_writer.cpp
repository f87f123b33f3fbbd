// The writing half; core/files/json_reader.cpp has the other.
#include <retrace/core/base/printable.h>
#include <retrace/core/base/utf8.h>
#include <retrace/core/files/json.h>

#include <array>
#include <charconv>
#include <cmath>

namespace retrace {
namespace {

constexpr std::string_view replacement_character = "\xEF\xBF\xBD";

std::string digits(double number) {
  std::array<char, 32> buffer{};
  return {buffer.data(), std::to_chars(buffer.data(), buffer.data() + buffer.size(), number).ptr};
}

}  // namespace

JsonWriter& JsonWriter::open(char bracket) {
  separate();
  text_ += bracket;
  has_elements_.push_back(false);
  return *this;
}

JsonWriter& JsonWriter::close(char bracket) {
  const bool on_own_line = lines_ && has_elements_.size() == 1 && has_elements_.back();
  has_elements_.pop_back();
  if (on_own_line) text_ += '\n';
  text_ += bracket;
  return *this;
}

void JsonWriter::separate() {
  if (after_key_ || has_elements_.empty()) {
    after_key_ = false;
    return;
  }
  if (has_elements_.back()) text_ += ',';
  if (lines_ && has_elements_.size() == 1) text_ += '\n';
  has_elements_.back() = true;
}

JsonWriter& JsonWriter::key(std::string_view name) {
  separate();
  append_quoted(name);
  text_ += ':';
  after_key_ = true;
  return *this;
}

JsonWriter& JsonWriter::value(std::string_view text) {
  separate();
  append_quoted(text);
  return *this;
}

JsonWriter& JsonWriter::word(std::string_view literal) {
  separate();
  text_ += literal;
  return *this;
}

JsonWriter& JsonWriter::value(double number) {
  std::string shortest = std::isfinite(number) ? digits(number) : "null";
  // Writes 1 as 1.0, for readers that distinguish integers from floating-point numbers.
  if (shortest.find_first_not_of("-0123456789") == std::string::npos) shortest += ".0";
  return word(shortest);
}

void JsonWriter::append_quoted(std::string_view text) {
  constexpr std::string_view hexadecimal = "0123456789abcdef";
  text_ += '"';
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    if (length == 0) {
      text_ += replacement_character;
    } else if (const std::optional<std::uint32_t> control = control_at(text)) {
      text_ += "\\u";
      for (int shift = 12; shift >= 0; shift -= 4) text_ += hexadecimal[*control >> shift & 15];
    } else {
      if (text.front() == '"' || text.front() == '\\') text_ += '\\';
      text_ += text.substr(0, length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  text_ += '"';
}

}  // namespace retrace

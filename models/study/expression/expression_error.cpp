#include <retrace/models/formats/text_table.h>
#include <retrace/models/study/expression/expression_error.h>

#include <algorithm>

namespace retrace {
namespace {

constexpr std::size_t indent = 2;
constexpr std::size_t line_width = 76;  // what is shown of a line, in bytes
constexpr std::size_t before_place = 40;

bool continues_character(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

/// The window of the line around the place, without control codes, and the caret below it.
std::string with_caret(std::string_view source, TextPart place) {
  place.begin = std::min(place.begin, source.size());
  const std::size_t line_end = std::min(source.find('\n', place.begin), source.size());
  std::size_t begin = place.begin == 0 ? 0 : source.rfind('\n', place.begin - 1) + 1;  // npos + 1 is 0
  if (place.begin - begin > line_width - 10) begin = place.begin - before_place;
  while (begin < place.begin && continues_character(source[begin])) ++begin;
  std::size_t end = std::min(line_end, begin + line_width);
  while (end < line_end && end > place.begin && continues_character(source[end])) --end;
  std::string line(source.substr(begin, end - begin));
  std::ranges::replace_if(
      line, [](unsigned char byte) { return byte < ' ' || byte == 0x7F; }, ' ');
  const std::size_t place_end = std::clamp(place.end, place.begin, end);
  const std::size_t marked = characters(source.substr(place.begin, place_end - place.begin));
  const std::string margin(indent, ' ');
  return text("\n", margin, line, "\n", margin, std::string(characters(source.substr(begin, place.begin - begin)), ' '),
              "^", std::string(marked > 1 ? marked - 1 : 0, '~'));
}

}  // namespace

ExpressionError::ExpressionError(const std::string& message, std::string_view source, TextPart place)
    : ValueError(message + with_caret(source, place)), place_(place) {}

}  // namespace retrace

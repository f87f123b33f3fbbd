#include <retrace/models/formats/csv_field.h>

namespace retrace {

std::string csv_field(std::string_view words) {
  const auto is_space = [](char c) { return c == ' ' || c == '\t'; };
  const bool has_margin = !words.empty() && (is_space(words.front()) || is_space(words.back()));
  if (!has_margin && words.find_first_of("\",\r\n") == std::string_view::npos) return std::string(words);
  std::string quoted = "\"";
  for (const char c : words) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + '"';
}

}  // namespace retrace

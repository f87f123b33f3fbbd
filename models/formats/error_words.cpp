#include <retrace/models/formats/error_words.h>

namespace retrace {

std::string_view without_function(std::string_view message) {
  constexpr std::string_view of_names = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-:";
  constexpr std::string_view end_of_name = ": ";
  const std::size_t end = message.find(end_of_name);
  if (end == std::string_view::npos || message.find_first_not_of(of_names) < end) return message;
  return message.substr(end + end_of_name.size());
}

}  // namespace retrace

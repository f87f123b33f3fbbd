#include <retrace/core/base/printable.h>
#include <retrace/models/reports/document/markup.h>

namespace retrace {

std::string escaped(const std::string& plain) {
  std::string result;
  for (const char letter : printable_lines(plain)) {
    if (letter == '&')
      result += "&amp;";
    else if (letter == '<')
      result += "&lt;";
    else if (letter == '>')
      result += "&gt;";
    else
      result += letter;
  }
  return result;
}

}  // namespace retrace

#include <retrace/core/base/error.h>
#include <retrace/core/files/base64.h>
#include <retrace/models/study/page_template.h>

#include <span>
#include <string>

namespace retrace {
namespace {

// Numbers, because compilers limit the length of string literals.
constexpr unsigned char bytes_of_page[] = {
#include "page_bytes.inc"
};
constexpr unsigned char bytes_of_programs[] = {
#include "program_bytes.inc"
};

std::string page_with_programs() {
  constexpr std::string_view mark = "@PROGRAMS@";
  const std::string_view page(reinterpret_cast<const char*>(bytes_of_page), sizeof bytes_of_page);
  const std::size_t place = page.find(mark);
  return text(page.substr(0, place), base64(std::as_bytes(std::span(bytes_of_programs))),
              page.substr(place + mark.size()));
}

}  // namespace

std::string_view page_template() {
  static const std::string page = page_with_programs();
  return page;
}

}  // namespace retrace

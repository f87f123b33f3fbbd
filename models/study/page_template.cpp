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

#include "page_hashes.inc"

void replace(std::string& page, std::string_view mark, const std::string& text) {
  page.replace(page.find(mark), mark.size(), text);
}

std::string hash_source(std::span<const unsigned char> hash) { return text("sha256-", base64(std::as_bytes(hash))); }

/// Its policy lets only its own style and programs work, whatever a trace may hold.
std::string page_with_programs() {
  std::string page(reinterpret_cast<const char*>(bytes_of_page), sizeof bytes_of_page);
  replace(page, "@PROGRAMS@", base64(std::as_bytes(std::span(bytes_of_programs))));
  replace(page, "@HASH_OF_STYLE@", hash_source(hash_of_style));
  replace(page, "@HASH_OF_LOADER@", hash_source(hash_of_loader));
  replace(page, "@HASH_OF_PROGRAMS@", hash_source(hash_of_programs));
  return page;
}

}  // namespace

std::string_view page_template() {
  static const std::string page = page_with_programs();
  return page;
}

}  // namespace retrace

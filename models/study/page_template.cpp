#include <retrace/models/study/page_template.h>

namespace retrace {
namespace {

// Numbers, because compilers limit the length of string literals.
constexpr unsigned char bytes_of_page[] = {
#include "page_bytes.inc"
};

}  // namespace

std::string_view page_template() { return {reinterpret_cast<const char*>(bytes_of_page), sizeof bytes_of_page}; }

}  // namespace retrace

#include <retrace/core/base/error.h>
#include <retrace/core/files/replacement_file.h>
#include <retrace/core/trace/trace_json.h>
#include <retrace/models/study/page.h>
#include <retrace/models/study/page_template.h>
#include <retrace/models/study/printable_trace.h>

#include <string_view>

namespace retrace {

std::string page_of(const Trace& trace) {
  constexpr std::string_view mark = "@DATA@";
  const std::string_view page = page_template();
  const std::size_t place = page.find(mark);
  return text(page.substr(0, place), page_data(with_printable_names(trace)), page.substr(place + mark.size()));
}

void write_page(const Trace& trace, const std::string& path) {
  const std::string page = page_of(trace);
  ReplacementFile file("write_page", path);
  file.write(page.data(), page.size());
  file.put_into_place();
}

}  // namespace retrace

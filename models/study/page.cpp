#include <retrace/core/base/error.h>
#include <retrace/core/files/replacement_file.h>
#include <retrace/models/reports/document/markup.h>
#include <retrace/models/study/page.h>
#include <retrace/models/study/page_data.h>
#include <retrace/models/study/page_template.h>
#include <retrace/models/study/printable_trace.h>

#include <string_view>

namespace retrace {

std::string page_of(const Trace& trace, const std::string& made_by) {
  constexpr std::string_view maker = "@MADE_BY@", data = "@DATA@";
  const std::string_view page = page_template();
  const std::size_t of_maker = page.find(maker), after_maker = of_maker + maker.size(), of_data = page.find(data);
  return text(page.substr(0, of_maker), escaped(made_by), page.substr(after_maker, of_data - after_maker),
              data_element(with_printable_names(trace)), page.substr(of_data + data.size()));
}

void write_page(const Trace& trace, const std::string& path, const std::string& made_by) {
  const std::string page = page_of(trace, made_by);
  ReplacementFile file("write_page", path);
  file.write(page.data(), page.size());
  file.put_into_place();
}

}  // namespace retrace

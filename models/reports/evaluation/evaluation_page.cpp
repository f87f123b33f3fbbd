// A report as a page.
#include <retrace/core/base/error.h>
#include <retrace/models/reports/evaluation/evaluation_maps.h>
#include <retrace/models/reports/evaluation/evaluation_tables.h>
#include <retrace/models/reports/plots/markup.h>

namespace retrace {
namespace {

std::string paragraph(const std::string& words) { return words.empty() ? "" : text("<p>", escaped(words), "</p>\n"); }

std::string section(const char* title, const ShownTable& table) {
  return text("<h2>", title, "</h2>\n", html_table(table.rows), paragraph(table.note));
}

std::string section_of(const Failure& failure, const Report& report) {
  return text("<h3>", escaped(place_of(failure, report)), "</h3>\n<pre>", escaped(failure.input), "</pre>\n",
              paragraph(answer_line(failure, report.kind)));
}

}  // namespace

std::string report_page(const Report& report) {
  std::string body;
  for (const std::string& line : summary_lines(report)) body += paragraph(line);
  if (!report.classes.rows.empty()) body += section("Classes", shown(report.classes));
  for (const CategoryTable& table : report.categories) body += section("Categories", shown(table, report.kind));
  if (!report.failures.empty()) body += text("<h2>", failures_title(report), "</h2>\n");
  for (const Failure& failure : report.failures) body += section_of(failure, report);
  return html_document(title_of(report), body);
}

}  // namespace retrace

#include <retrace/core/base/error.h>
#include <retrace/models/reports/document/document.h>
#include <retrace/models/reports/document/markup.h>

namespace retrace {

void Document::add_element(const char* name, const std::string& words) {
  page_ += text("<", name, ">", escaped(words), "</", name, ">\n");
}

void Document::section(const std::string& title) {
  add_element("h2", title);
  text_ += "\n";
  indent_ = "  ";
}

void Document::heading(const std::string& words) {
  section(words);
  text_ += words + "\n";
}

void Document::subheading(const std::string& words) {
  add_element("h3", words);
  text_ += "  " + words + "\n";
  indent_ = "    ";
}

void Document::line(const std::string& words) {
  in_text(words);
  add_element("p", words);
}

void Document::paragraph(const std::string& words) {
  text_ += wrapped(words, indent_);
  add_element("p", words);
}

void Document::table(const std::vector<FactRow>& rows, std::string_view alignment) {
  const std::vector<Row> printed = printed_rows(rows);
  text_ += text_table(printed, alignment, indent_);
  page_ += "<table>\n";
  const char* cell = "th";
  for (const Row& row : printed) {
    page_ += "<tr>";
    for (const std::string& words : row) page_ += text("<", cell, ">", escaped(words), "</", cell, ">");
    page_ += "</tr>\n";
    cell = "td";
  }
  page_ += "</table>\n";
}

void Document::verbatim(const std::string& lines) {
  in_text(lines);
  page_ += text("<pre tabindex=0>", escaped(lines), "</pre>\n");
}

void Document::in_text(const std::string& lines) {
  for (const std::string& line : lines_of(lines)) text_ += (line.empty() ? line : indent_ + line) + "\n";
}

std::string Document::as_page() const {
  return text(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
      "content=\"width=device-width\"><title>",
      escaped(title_),
      "</title>\n<style>body{font-family:system-ui,sans-serif;max-width:70em;margin:2em auto;padding:0 1em}"
      "table{border-collapse:collapse}td,th{padding:.3em .7em;border-bottom:1px solid #ddd;text-align:right}"
      "td:first-child,th:first-child{text-align:left}",
      style_, "</style></head>\n<body><main><h1>", escaped(title_), "</h1>\n", page_, "</main></body></html>\n");
}

}  // namespace retrace

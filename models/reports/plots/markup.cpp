#include <retrace/core/base/error.h>
#include <retrace/core/base/printable.h>
#include <retrace/models/reports/plots/markup.h>

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

std::string html_table(const std::vector<Row>& rows) {
  std::string table = "<table>\n";
  const char* cell = "th";
  for (const Row& row : rows) {
    table += "<tr>";
    for (const std::string& words : row) table += text("<", cell, ">", escaped(words), "</", cell, ">");
    table += "</tr>\n";
    cell = "td";
  }
  return table + "</table>\n";
}

std::string html_document(const std::string& title, const std::string& body) {
  return text("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>", escaped(title),
              "</title>\n<style>body{font-family:sans-serif;max-width:70em;margin:2em auto;padding:0 1em}"
              "table{border-collapse:collapse}td,th{padding:.3em .7em;border-bottom:1px solid #ddd;text-align:right}"
              "td:first-child,th:first-child{text-align:left}</style></head>\n<body><h1>",
              escaped(title), "</h1>\n", body, "</body></html>\n");
}

}  // namespace retrace

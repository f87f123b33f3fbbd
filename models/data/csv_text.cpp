#include <retrace/core/base/error.h>
#include <retrace/models/data/csv_text.h>
#include <retrace/models/data/file_text.h>

#include <algorithm>
#include <utility>

namespace retrace {
namespace {

constexpr std::string_view line_breaks = "\r\n";

/// The first two lines that are not empty; fewer if there are none.
std::vector<std::string_view> first_lines(std::string_view content) {
  std::vector<std::string_view> lines;
  while (lines.size() < 2 && !content.empty()) {
    const std::string_view line = content.substr(0, content.find_first_of(line_breaks));
    if (!trimmed(line).empty()) lines.push_back(line);
    content.remove_prefix(std::min(line.size() + 1, content.size()));
  }
  return lines;
}

std::string in_words(char separator) { return separator == '\t' ? "tab" : text("'", std::string(1, separator), "'"); }

}  // namespace

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  return first == std::string_view::npos ? "" : text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

CsvText::CsvText(const std::string& path, char separator)
    : CsvText(path, read_utf8_file(path, "read_csv: " + path), separator) {}

CsvText::CsvText(std::string name, std::string content, char separator)
    : name_(std::move(name)), content_(std::move(content)), separator_(separator) {
  skip_empty_lines();
}

std::vector<CsvField> CsvText::record() {
  std::vector<CsvField> fields;
  while (true) {
    fields.push_back(field(fields.size() + 1));
    if (at_end()) return fields;
    if (content_[at_] == separator_) {
      ++at_;
      continue;
    }
    take_line_break();
    skip_empty_lines();
    return fields;
  }
}

void CsvText::refuse(std::int64_t line, std::size_t column, const std::string& what) const {
  throw FileError(text("read_csv: ", name_, ": line ", line, ", column ", column, ": ", what));
}

void CsvText::check_separator() const {
  const std::vector<std::string_view> lines = first_lines(content_);
  if (lines.empty() || lines.front().find(separator_) != std::string_view::npos) return;
  for (const char other : {';', '\t', ',', '|'}) {
    const auto count = [other](std::string_view line) { return std::ranges::count(line, other); };
    if (count(lines.front()) > 0 && count(lines.front()) == count(lines.back()))
      throw FileError(text("read_csv: ", name_, ": it seems that ", in_words(other), " separates its columns, not ",
                           in_words(separator_), "; give --separator ", in_words(other), " (CsvOptions::separator)"));
  }
}

void CsvText::take_line_break() {
  at_ += std::string_view(content_).substr(at_).starts_with("\r\n") ? 2 : 1;
  ++line_;
}

void CsvText::skip_empty_lines() {
  while (!at_end()) {
    const std::size_t line_end = std::min(content_.find_first_of(line_breaks, at_), content_.size());
    const std::string_view line = std::string_view(content_).substr(at_, line_end - at_);
    if (line.find(separator_) != std::string_view::npos || !trimmed(line).empty()) return;
    at_ = line_end;
    if (!at_end()) take_line_break();
  }
}

CsvField CsvText::field(std::size_t column) {
  if (!at_end() && content_[at_] == '"') return quoted_field(column);
  CsvField result{.text = {}, .line = line_};
  const std::size_t begin = at_;
  while (!at_end() && content_[at_] != separator_ && !at_line_break()) {
    if (content_[at_] == '"')
      refuse(line_, column, "a quote stands inside a field; put the whole field in quotes and double this one");
    ++at_;
  }
  result.text = trimmed(std::string_view(content_).substr(begin, at_ - begin));
  return result;
}

CsvField CsvText::quoted_field(std::size_t column) {
  CsvField result{.text = {}, .line = line_};
  const std::size_t begin = at_;
  for (++at_;; ++at_) {
    if (at_end()) refuse(result.line, column, "the quote that opens the field is never closed; close it");
    if (content_[at_] == '"' && (++at_ == content_.size() || content_[at_] != '"')) break;
    result.text += content_[at_];
  }
  line_ += line_of(std::string_view(content_).substr(begin), at_ - begin) - 1;
  if (!at_end() && content_[at_] != separator_ && !at_line_break())
    refuse(line_, column, "something follows the closing quote of the field; remove it or double the quote");
  return result;
}

}  // namespace retrace

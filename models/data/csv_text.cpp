#include <retrace/core/error.h>
#include <retrace/models/data/csv_text.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>

namespace retrace {
namespace {

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    throw FileError(text("read_csv: ", path, ": ", std::strerror(errno), "; check the path and the permissions"));
  std::string result;
  std::array<char, 65536> part;
  do {
    file.read(part.data(), part.size());
    result.append(part.data(), static_cast<std::size_t>(file.gcount()));
  } while (file);
  if (file.bad()) throw FileError(text("read_csv: ", path, ": cannot be read; check that it is a file"));
  return result;
}

}  // namespace

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  return first == std::string_view::npos ? "" : text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

CsvText::CsvText(const std::string& path, char separator)
    : path_(path), content_(contents(path)), separator_(separator) {
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  if (content_.starts_with(byte_order_mark)) at_ = byte_order_mark.size();
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
    return fields;
  }
}

void CsvText::refuse(std::int64_t line, std::size_t column, const std::string& what) const {
  throw FileError(text("read_csv: ", path_, ": line ", line, ", column ", column, ": ", what));
}

bool CsvText::at_line_break() const {
  return content_[at_] == '\n' || (content_[at_] == '\r' && at_ + 1 < content_.size() && content_[at_ + 1] == '\n');
}

void CsvText::take_line_break() {
  at_ += content_[at_] == '\r' ? 2 : 1;
  ++line_;
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
  for (++at_;; ++at_) {
    if (at_end()) refuse(result.line, column, "the quote that opens the field is never closed; close it");
    if (content_[at_] == '"' && (++at_ == content_.size() || content_[at_] != '"')) break;
    if (content_[at_] == '\n') ++line_;
    result.text += content_[at_];
  }
  if (!at_end() && content_[at_] != separator_ && !at_line_break())
    refuse(line_, column, "something follows the closing quote of the field; remove it or double the quote");
  return result;
}

}  // namespace retrace

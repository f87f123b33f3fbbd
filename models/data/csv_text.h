// The records of a file of comma-separated values, as text (RFC 4180).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace retrace {

/// Without the spaces and tabs around it.
std::string_view trimmed(std::string_view text);

/// A field of a record.
struct CsvField {
  std::string text;
  std::int64_t line = 1;  // where it begins
};

/// Reads a text record by record. Lines end with LF, CR LF or CR; lines that are empty or only blank are skipped.
class CsvText {
 public:
  /// Throws FileError if the file cannot be read, or is not in UTF-8.
  CsvText(const std::string& path, char separator);
  /// A text in UTF-8, which errors call `name`.
  CsvText(std::string name, std::string content, char separator);

  bool at_end() const { return at_ == content_.size(); }
  /// The fields up to the end of the line, which is taken, too. Throws FileError for quotes that do not fit.
  std::vector<CsvField> record();
  /// Throws FileError with the name, line and column.
  [[noreturn]] void refuse(std::int64_t line, std::size_t column, const std::string& what) const;
  /// Throws FileError, with the right one, if the first two records seem to have another separator.
  void check_separator() const;

 private:
  bool at_line_break() const { return content_[at_] == '\n' || content_[at_] == '\r'; }
  void take_line_break();
  void skip_empty_lines();
  CsvField field(std::size_t column);
  CsvField quoted_field(std::size_t column);

  std::string name_;
  std::string content_;
  char separator_;
  std::size_t at_ = 0;
  std::int64_t line_ = 1;
};

}  // namespace retrace

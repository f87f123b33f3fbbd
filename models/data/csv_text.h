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

/// Reads a file record by record.
class CsvText {
 public:
  /// Throws FileError if the file cannot be read.
  CsvText(const std::string& path, char separator);

  bool at_end() const { return at_ == content_.size(); }
  /// The fields up to the end of the line, which is taken, too. Throws FileError for quotes that do not fit.
  std::vector<CsvField> record();
  /// Throws FileError with path, line and column.
  [[noreturn]] void refuse(std::int64_t line, std::size_t column, const std::string& what) const;

 private:
  bool at_line_break() const;
  void take_line_break();
  CsvField field(std::size_t column);
  CsvField quoted_field(std::size_t column);

  std::string path_;
  std::string content_;
  char separator_;
  std::size_t at_ = 0;
  std::int64_t line_ = 1;
};

}  // namespace retrace

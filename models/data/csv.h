// Numbers in text files: comma-separated values (RFC 4180).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <retrace/core/tensor.h>

namespace retrace {

/// The contents of a file of comma-separated values.
struct Csv {
  std::vector<std::string> names;  // of the columns, from the first line; empty if the file has no such line
  Tensor values;                   // [rows, columns], f64

  /// One column, [rows]. Throws ValueError, with the nearest right name, for a column that does not exist.
  Tensor column(std::string_view name) const;
};

/// How the file is written.
struct CsvOptions {
  char separator = ',';
  bool header = true;  // the first line names the columns
};

/// Reads a file in which every line has the same number of fields, and every field but those of the header is a number
/// as C++ writes it ("-1.5e3", "nan"), whatever the locale. Fields may be in double quotes, and then hold separators,
/// line breaks and "" for a quote; spaces and tabs around a number, a byte-order mark and CRLF are understood. Throws
/// FileError with path, line and column of what is wrong; ValueError for a separator that cannot be one.
Csv read_csv(const std::string& path, const CsvOptions& options = {});

}  // namespace retrace

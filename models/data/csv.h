// Numbers and words in text files: comma-separated values (RFC 4180).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <retrace/core/tensor/tensor.h>

namespace retrace {

/// The contents of a file of comma-separated values.
struct Csv {
  std::vector<std::string> names;   // of the columns, from the first line; none if the file has no such line
  Tensor values;                    // [rows, columns], f64
  std::vector<std::int64_t> lines;  // of the file, from 1: where each row begins
  std::map<std::string, std::vector<std::string>> words;  // of each column of words, those that occur; its values are
                                                          // their positions here

  /// One column, [rows]. Throws ValueError, with the nearest right name, for a column that does not exist.
  Tensor column(std::string_view name) const;
  /// A column of words as labels, [rows], i64: positions in words.at(name). Throws what column() throws, and
  /// ValueError for a column of numbers.
  Tensor labels(std::string_view name) const;
};

/// How the file is written.
struct CsvOptions {
  char separator = ',';
  bool header = true;                     // the first line names the columns
  std::vector<std::string> words = {};    // columns of words: any text but none, without the spaces around it
  std::vector<std::string> columns = {};  // to read, in this order; the others may hold anything. Empty: all
};

/// Reads a file in UTF-8, plain or packed as x.gz (in a build with zlib), in which every line has the same number of
/// fields, and every field but those of the header and of columns of words is a number as C++ writes it ("-1.5e3",
/// "nan"), whatever the locale. The words of a column are sorted: by their values if all of them are numbers, otherwise
/// by their bytes. Fields may be in double quotes, and then hold separators, line breaks and "" for a quote; spaces and
/// tabs around a number, a byte-order mark, lines that end with CR LF or CR, and empty lines are understood. "-" is
/// standard input. Throws FileError with path, line and column of what is wrong; ValueError for a separator that cannot
/// be one, and for names in the options that no column has.
Csv read_csv(const std::string& path, const CsvOptions& options = {});
/// Reads the contents of such a file, which errors call `name`. Throws likewise.
Csv parse_csv(std::string content, const std::string& name, const CsvOptions& options = {});

/// The names in its first line; empty ones for columns without. Throws FileError as read_csv does.
std::vector<std::string> read_csv_header(const std::string& path, char separator = ',');
/// Those of the contents of such a file, which errors call `name`. Throws likewise.
std::vector<std::string> parse_csv_header(std::string content, const std::string& name, char separator = ',');

}  // namespace retrace

#include <retrace/core/base/error.h>
#include <retrace/models/data/csv.h>
#include <retrace/models/data/csv_text.h>
#include <retrace/models/data/file_text.h>
#include <retrace/models/formats/nearest_name.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

namespace retrace {
namespace {

/// A field as an error shows it, cut where it is long.
std::string shown(const std::string& field) {
  return field.size() > 40 ? text(std::string_view(field).substr(0, 40), "...") : field;
}

constexpr const char* or_leave_it_out = ", or leave the column out (--ignore, CsvOptions::columns)";

/// Why a field is no number, and the remedy.
std::string complaint(const std::string& field) {
  constexpr std::array<std::string_view, 8> missing{"NA", "N/A", "na", "n/a", "NULL", "null", "None", "?"};
  if (field.empty()) return "is empty; fill in a number, remove the line";
  if (std::ranges::find(missing, field) != missing.end()) return "stands for no number; fill in one, remove the line";
  if (field.find_first_not_of("+-0123456789.,eE") == std::string::npos && field.find(',') != std::string::npos)
    return "is not a number; write a decimal point and no comma";
  return "is not a number; write one";
}

double number(const CsvText& csv, const CsvField& field, std::size_t column, const std::vector<std::string>& names) {
  const std::string of = names.empty() ? "" : text(" (", shown(names[column - 1]), ")");
  std::string_view digits = trimmed(field.text);
  if (digits.starts_with('+') && !digits.starts_with("+-")) digits.remove_prefix(1);
  double result = 0;
  const auto [stopped, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), result);
  if (failure == std::errc::result_out_of_range)
    csv.refuse(field.line, column,
               text("'", shown(field.text), "'", of, " is outside the range of f64; write it in other units"));
  if (failure != std::errc{} || stopped != digits.data() + digits.size())
    csv.refuse(field.line, column,
               text(digits.empty() ? "the field" : text("'", shown(field.text), "'"), of, " ",
                    complaint(std::string(trimmed(field.text))), names.empty() ? "" : or_leave_it_out));
  return result;
}

/// The number that a word is, if it is one.
std::optional<double> value_of(const std::string& word) {
  double value = 0;
  const auto [stopped, failure] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (failure != std::errc{} || stopped != word.data() + word.size() || value != value) return std::nullopt;
  return value;
}

std::vector<std::string> header(CsvText& csv, const std::string& path) {
  if (csv.at_end())
    throw FileError(text("read_csv: ", path, ": is empty, and a header was expected; name the columns"));
  csv.check_separator();
  std::vector<std::string> names;
  for (CsvField& field : csv.record()) {
    if (!field.text.empty() && std::ranges::find(names, field.text) != names.end())
      csv.refuse(
          field.line, names.size() + 1,
          text("two columns are named '", shown(field.text), "'; ",
               value_of(field.text) ? "if these are numbers of a sample, put a line with the names of the columns "
                                      "above it"
                                    : "rename one"));
    names.push_back(std::move(field.text));
  }
  return names;
}

/// Where a name is among those of the columns.
std::size_t position(const std::string& function, const std::vector<std::string>& names, std::string_view name) {
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) throw ValueError(unknown_name(function, "column", name, names));
  return static_cast<std::size_t>(found - names.begin());
}

/// A column that is read.
struct Column {
  std::size_t place;  // in the file, from 0
  bool has_words;
  std::vector<std::string> fields = {};  // of a column of words
};

std::vector<Column> columns_to_read(const std::string& path, const std::vector<std::string>& names, std::size_t count,
                                    const CsvOptions& options) {
  if (!options.header && !(options.words.empty() && options.columns.empty()))
    throw ValueError(text("read_csv: ", path, ": columns have no names without a header; leave words and columns out"));
  const std::string function = text("read_csv: ", path);
  std::vector<Column> result;
  for (const std::string& name : options.columns) result.push_back({position(function, names, name), false});
  if (options.columns.empty())
    for (std::size_t place = 0; place < count; ++place) result.push_back({place, false});
  for (const std::string& name : options.words) {
    const std::size_t place = position(function, names, name);
    const auto found = std::ranges::find(result, place, &Column::place);
    if (found == result.end())
      throw ValueError(text(function, ": the column of words '", name, "' is not among those to read; add it"));
    found->has_words = true;
  }
  return result;
}

/// Each once: by their values if all are numbers, otherwise by their bytes.
std::vector<std::string> sorted_words(std::vector<std::string> words) {
  std::ranges::sort(words);
  words.erase(std::unique(words.begin(), words.end()), words.end());
  if (std::ranges::all_of(words, [](const std::string& word) { return value_of(word).has_value(); }))
    std::ranges::stable_sort(words, {}, [](const std::string& word) { return *value_of(word); });
  return words;
}

/// Replaces the column of the numbers [rows, columns] by the positions of its words; returns those.
std::vector<std::string> number_words(std::vector<double>& numbers, const Column& column, std::size_t at,
                                      std::size_t columns) {
  std::vector<std::string> words = sorted_words(column.fields);
  std::map<std::string_view, double> positions;
  for (const std::string& word : words) positions.emplace(word, static_cast<double>(positions.size()));
  for (std::size_t row = 0; row < column.fields.size(); ++row)
    numbers[row * columns + at] = positions.at(column.fields[row]);
  return words;
}

void check_separator(char separator) {
  if (std::string_view("\"\r\n0123456789+-.").find(separator) != std::string_view::npos)
    throw ValueError(
        text("read_csv: '", std::string(1, separator), "' cannot separate numbers; take ',', ';' or a tab"));
}

Csv read(CsvText csv, const std::string& path, const CsvOptions& options) {
  const std::vector<std::string> names = options.header ? header(csv, path) : std::vector<std::string>();
  std::optional<std::size_t> count;
  if (options.header) count = names.size();
  std::vector<Column> columns = columns_to_read(path, names, names.size(), options);
  std::vector<double> numbers;
  Csv result;
  while (!csv.at_end()) {
    std::vector<CsvField> fields = csv.record();
    result.lines.push_back(fields.front().line);
    if (!count) columns = columns_to_read(path, names, *(count = fields.size()), options);
    if (fields.size() != *count)
      csv.refuse(
          fields.front().line, std::min(fields.size(), *count) + 1,
          text("the line has ", fields.size(), " fields, and those before it have ", *count, "; fill it or remove it"));
    for (Column& column : columns) {
      CsvField& field = fields[column.place];
      if (column.has_words && field.text.empty())
        csv.refuse(field.line, column.place + 1,
                   text("the field (", shown(names[column.place]), ") is empty; write a word"));
      numbers.push_back(column.has_words ? 0 : number(csv, field, column.place + 1, names));
      if (column.has_words) column.fields.push_back(std::move(field.text));
    }
  }
  for (std::size_t at = 0; at < columns.size(); ++at) {
    if (!names.empty()) result.names.push_back(names[columns[at].place]);
    if (columns[at].has_words)
      result.words[result.names.back()] = number_words(numbers, columns[at], at, columns.size());
  }
  result.values = tensor(std::span<const double>(numbers),
                         {std::ssize(result.lines), static_cast<std::int64_t>(columns.size())}, f64);
  return result;
}

CsvText csv_text(std::string content, const std::string& name, char separator) {
  return CsvText(name, utf8_text(std::move(content), "read_csv: " + name), separator);
}

}  // namespace

Tensor Csv::column(std::string_view name) const {
  if (names.empty()) throw ValueError("Csv::column: the columns have no names; read the file with its header");
  const std::size_t found = position("Csv::column", names, name), columns = names.size();
  const Tensor result = empty({values.dim(0)}, f64);
  const auto from = values.values<double>();
  const auto to = result.mutable_values<double>();
  for (std::size_t row = 0; row < to.size(); ++row) to[row] = from[row * columns + found];
  return result;
}

Tensor Csv::labels(std::string_view name) const {
  const Tensor numbers = column(name);
  if (words.find(std::string(name)) == words.end())
    throw ValueError(
        text("Csv::labels: the column '", std::string(name), "' was read as numbers; name it in CsvOptions::words"));
  return numbers.to(i64);
}

std::vector<std::string> read_csv_header(const std::string& path, char separator) {
  check_separator(separator);
  CsvText csv(path, separator);
  return header(csv, path);
}

std::vector<std::string> parse_csv_header(std::string content, const std::string& name, char separator) {
  check_separator(separator);
  CsvText csv = csv_text(std::move(content), name, separator);
  return header(csv, name);
}

Csv read_csv(const std::string& path, const CsvOptions& options) {
  check_separator(options.separator);
  return read(CsvText(path, options.separator), path, options);
}

Csv parse_csv(std::string content, const std::string& name, const CsvOptions& options) {
  check_separator(options.separator);
  return read(csv_text(std::move(content), name, options.separator), name, options);
}

}  // namespace retrace

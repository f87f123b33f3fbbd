#include <retrace/core/error.h>
#include <retrace/models/data/csv.h>
#include <retrace/models/formats/nearest_name.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>

namespace retrace {
namespace {

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  return first == std::string_view::npos ? "" : text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

struct Field {
  std::string text;
  std::int64_t line = 1;  // where it begins
};

/// Reads a file record by record.
class CsvText {
 public:
  CsvText(const std::string& path, std::string content, char separator)
      : path_(path), content_(std::move(content)), separator_(separator) {
    constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
    if (content_.starts_with(byte_order_mark)) at_ = byte_order_mark.size();
  }

  bool at_end() const { return at_ == content_.size(); }
  /// The fields up to the end of the line, which is taken, too.
  std::vector<Field> record() {
    std::vector<Field> fields;
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
  [[noreturn]] void refuse(std::int64_t line, std::size_t column, const std::string& what) const {
    throw FileError(text("read_csv: ", path_, ": line ", line, ", column ", column, ": ", what));
  }

 private:
  bool at_line_break() const {
    return content_[at_] == '\n' || (content_[at_] == '\r' && at_ + 1 < content_.size() && content_[at_ + 1] == '\n');
  }
  void take_line_break() {
    at_ += content_[at_] == '\r' ? 2 : 1;
    ++line_;
  }
  Field field(std::size_t column) {
    if (!at_end() && content_[at_] == '"') return quoted_field(column);
    Field result{.text = {}, .line = line_};
    const std::size_t begin = at_;
    while (!at_end() && content_[at_] != separator_ && !at_line_break()) {
      if (content_[at_] == '"')
        refuse(line_, column, "a quote stands inside a field; put the whole field in quotes and double this one");
      ++at_;
    }
    result.text = trimmed(std::string_view(content_).substr(begin, at_ - begin));
    return result;
  }
  Field quoted_field(std::size_t column) {
    Field result{.text = {}, .line = line_};
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

  const std::string& path_;
  std::string content_;
  char separator_;
  std::size_t at_ = 0;
  std::int64_t line_ = 1;
};

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

/// A field as an error shows it, cut where it is long.
std::string shown(const std::string& field) {
  return field.size() > 40 ? text(std::string_view(field).substr(0, 40), "...") : field;
}

double number(const CsvText& csv, const Field& field, std::size_t column, const std::vector<std::string>& names) {
  const std::string of = names.empty() ? "" : text(" (", shown(names[column - 1]), ")");
  std::string_view digits = trimmed(field.text);
  if (digits.empty()) csv.refuse(field.line, column, text("the field", of, " is empty; write a number, or nan"));
  if (digits.starts_with('+') && !digits.starts_with("+-")) digits.remove_prefix(1);
  double result = 0;
  const auto [stopped, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), result);
  if (failure == std::errc::result_out_of_range)
    csv.refuse(field.line, column,
               text("'", shown(field.text), "'", of, " is outside the range of f64; write it in other units"));
  if (failure != std::errc{} || stopped != digits.data() + digits.size())
    csv.refuse(field.line, column,
               text("'", shown(field.text), "'", of, " is not a number; write one, or leave the column out"));
  return result;
}

std::vector<std::string> header(CsvText& csv, const std::string& path) {
  if (csv.at_end())
    throw FileError(text("read_csv: ", path, ": is empty, and a header was expected; name the columns"));
  std::vector<std::string> names;
  for (Field& field : csv.record()) {
    if (std::ranges::find(names, field.text) != names.end())
      csv.refuse(field.line, names.size() + 1, text("two columns are named '", shown(field.text), "'; rename one"));
    names.push_back(std::move(field.text));
  }
  return names;
}

}  // namespace

Tensor Csv::column(std::string_view name) const {
  if (names.empty()) throw ValueError("Csv::column: the columns have no names; read the file with its header");
  const std::vector<std::string_view> known(names.begin(), names.end());
  const auto found = std::ranges::find(known, name);
  if (found == known.end()) throw ValueError(unknown_name("Csv::column", "column", name, known));
  const auto columns = names.size();
  const Tensor result = empty({values.dim(0)}, f64);
  const auto from = values.values<double>();
  const auto to = result.mutable_values<double>();
  for (std::size_t row = 0; row < to.size(); ++row)
    to[row] = from[row * columns + static_cast<std::size_t>(found - known.begin())];
  return result;
}

Csv read_csv(const std::string& path, const CsvOptions& options) {
  if (std::string_view("\"\r\n0123456789+-.").find(options.separator) != std::string_view::npos)
    throw ValueError(
        text("read_csv: '", std::string(1, options.separator), "' cannot separate numbers; take ',', ';' or a tab"));
  CsvText csv(path, contents(path), options.separator);
  Csv result;
  if (options.header) result.names = header(csv, path);
  std::size_t columns = result.names.size();
  std::vector<double> numbers;
  std::int64_t rows = 0;
  for (; !csv.at_end(); ++rows) {
    const std::vector<Field> fields = csv.record();
    if (columns == 0) columns = fields.size();
    if (fields.size() != columns)
      csv.refuse(fields.front().line, std::min(fields.size(), columns) + 1,
                 text("the line has ", fields.size(), " fields, and those before it have ", columns,
                      "; fill it or remove it"));
    for (std::size_t column = 1; column <= columns; ++column)
      numbers.push_back(number(csv, fields[column - 1], column, result.names));
  }
  result.values = tensor(std::span<const double>(numbers), {rows, static_cast<std::int64_t>(columns)}, f64);
  return result;
}

}  // namespace retrace

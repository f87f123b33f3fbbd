#include <retrace/core/base/error.h>
#include <retrace/models/data/csv_text.h>
#include <retrace/models/formats/nearest_name.h>
#include <retrace/models/tasks/csv_columns.h>
#include <retrace/models/tasks/sample_file.h>

#include <algorithm>

namespace retrace {
namespace {

bool is_nameless(std::string_view name) {
  constexpr std::string_view of_pandas = "Unnamed: ";
  return name.empty() || (name.starts_with(of_pandas) && name.size() > of_pandas.size() &&
                          name.find_first_not_of("0123456789", of_pandas.size()) == std::string_view::npos);
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

/// Throws ValueError if a column that is to be ignored is not in the file, or has another role.
void check_ignored(const std::string& function, const std::vector<std::string>& header,
                   const std::vector<std::string>& ignored, const std::vector<std::string>& used) {
  for (const std::string& name : ignored) {
    if (!contains(header, name)) throw ValueError(unknown_name(function + ": --ignore", "column", name, header));
    if (contains(used, name))
      throw ValueError(text(function, ": the column '", name, "' is ignored and used; leave it out of one list"));
  }
}

}  // namespace

char separator_of(const std::string& function, const std::string& path, const std::string& given) {
  if (given.empty()) return ending_of(path) == ".tsv" ? '\t' : ',';
  if (given == "tab" || given == "\\t") return '\t';
  if (given.size() == 1) return given.front();
  throw ValueError(text(function, ": --separator is '", given, "'; give one character, or tab"));
}

std::vector<std::string> columns_in_list(const std::string& function, const std::string& list) {
  std::vector<std::string> names;
  try {
    CsvText csv("the list of columns", list, ',');
    if (csv.at_end()) return names;
    for (CsvField& field : csv.record()) names.push_back(std::move(field.text));
    if (csv.at_end()) return names;
  } catch (const FileError&) {
  }
  throw ValueError(text(function, ": '", list, "' is no list of columns; put names with commas, quotes or line breaks ",
                        "in double quotes, and double the quotes in them"));
}

std::vector<std::string> CsvColumns::all() const {
  std::vector<std::string> names = numbers;
  for (const auto* some : {&label, &target, &sequence}) names.insert(names.end(), some->begin(), some->end());
  return names;
}

CsvColumns columns_by_role(const std::string& function, const std::vector<std::string>& header,
                           const TaskOptions& options) {
  CsvColumns columns;
  if (options.label) columns.label = {*options.label};
  if (options.target) columns.target = columns_in_list(function, *options.target);
  if (options.sequence) columns.sequence = {*options.sequence};
  if (columns.label.empty() == columns.target.empty())
    throw ValueError(text(function,
                          ": give --label COLUMN for classes, or --target COLUMNS for numbers, of the columns ",
                          some_of(header)));
  const std::vector<std::string> used = columns.all(), ignored = columns_in_list(function, options.ignore.value_or(""));
  check_ignored(function, header, ignored, used);
  for (const std::string& name : header) {
    if (contains(used, name) || contains(ignored, name)) continue;
    if (is_nameless(name))
      columns.has_nameless = true;
    else
      columns.numbers.push_back(name);
  }
  if (columns.numbers.empty()) throw ValueError(function + ": no column is left for the numbers of x");
  return columns;
}

}  // namespace retrace

// The columns of a user's .csv file by their roles.
#pragma once

#include <string>
#include <vector>

#include <retrace/models/tasks/task_options.h>

namespace retrace {

/// The character that separates the columns of a file: `given`, one character or "tab"; if empty, a comma, or in a .tsv
/// file a tab. Throws ValueError, in the name of `function`, for another word.
char separator_of(const std::string& function, const std::string& path, const std::string& given);

/// Names separated by commas; one with a comma stands in double quotes, in which "" is a quote. Throws ValueError, in
/// the name of `function`, for quotes that do not fit.
std::vector<std::string> columns_in_list(const std::string& function, const std::string& list);

/// Columns by their roles.
struct CsvColumns {
  std::vector<std::string> numbers = {};   // of x
  std::vector<std::string> label = {};     // the answers: one column of classes ...
  std::vector<std::string> target = {};    // ... or some of numbers
  std::vector<std::string> sequence = {};  // that tells sequences apart; none: a line is a sample
  bool has_nameless = false;               // whether the file has others without a name, which are left out

  /// All but the nameless ones.
  std::vector<std::string> all() const;
};

/// The roles that the options give to the columns of a file; x has those without another role. A column without a name
/// ("" or "Unnamed: 0") is what pandas and R write to number the lines: unless it has a role, it is left out. Throws
/// ValueError, in the name of `function`, for roles that do not fit.
CsvColumns columns_by_role(const std::string& function, const std::vector<std::string>& header,
                           const TaskOptions& options);

}  // namespace retrace

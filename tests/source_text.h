// Reads names from the source files of this project, to compare lists with declarations.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace retrace {

using NameSet = std::set<std::string>;

/// The text of a file, by its path from the root of the project.
inline std::string source_text(const std::string& path) {
  std::ifstream file(std::string(RETRACE_SOURCE_DIR) + "/" + path);
  EXPECT_TRUE(file.is_open()) << path << " cannot be read";
  std::ostringstream result;
  result << file.rdbuf();
  return result.str();
}

/// The first group of `pattern`, for every line that begins with a match.
inline std::vector<std::string> names_in(const std::string& text, const std::string& pattern) {
  const std::regex expression(pattern);
  std::vector<std::string> names;
  std::istringstream lines(text);
  std::smatch match;
  for (std::string line; std::getline(lines, line);)
    if (std::regex_search(line, match, expression, std::regex_constants::match_continuous)) names.push_back(match[1]);
  return names;
}

inline NameSet set_of(const std::vector<std::string>& names) { return {names.begin(), names.end()}; }

/// The elements of `names` that are not in `others`: "gelu, silu".
inline std::string missing(const NameSet& names, const NameSet& others) {
  std::string result;
  for (const std::string& name : names)
    if (!others.contains(name)) result += (result.empty() ? "" : ", ") + name;
  return result;
}

/// The classes of a header, at the left margin, that have a member visit().
inline NameSet classes_with_visit(const std::string& header) {
  static const std::regex start("(?:template <.*> )?(?:struct|class) ([A-Za-z]+)"), member(" +void visit\\(");
  NameSet names;
  std::string current;
  std::istringstream lines(header);
  std::smatch match;
  for (std::string line; std::getline(lines, line);) {
    if (std::regex_search(line, match, start, std::regex_constants::match_continuous)) current = match[1];
    if (std::regex_search(line, member, std::regex_constants::match_continuous)) names.insert(current);
  }
  return names;
}

/// The texts of the headers of a folder and of those in it.
inline std::vector<std::string> headers_in(const std::string& folder) {
  const std::filesystem::path root = RETRACE_SOURCE_DIR;
  std::vector<std::string> headers;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root / folder))
    if (entry.path().extension() == ".h")
      headers.push_back(source_text(entry.path().lexically_relative(root).string()));
  return headers;
}

/// The classes with a visit() in these headers.
inline NameSet classes_with_visit_in(const std::string& folder) {
  NameSet names;
  for (const std::string& header : headers_in(folder)) names.merge(classes_with_visit(header));
  return names;
}

}  // namespace retrace

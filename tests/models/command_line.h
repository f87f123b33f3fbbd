#pragma once
/// Runs a command of the program within a test.
#include <retrace/models/cli/cli.h>

#include <sstream>
#include <string>
#include <vector>

namespace retrace {

/// How a command ended and all that it wrote.
struct Outcome {
  int status = 0;
  std::string results;   ///< stdout
  std::string messages;  ///< stderr
};

/// `retrace WORDS...`
inline Outcome run_command(const std::vector<std::string>& words) {
  std::vector<const char*> arguments{"retrace"};
  for (const std::string& word : words) arguments.push_back(word.c_str());
  std::ostringstream results, messages;
  const int status = run_cli(static_cast<int>(arguments.size()), arguments.data(), results, messages);
  return {status, results.str(), messages.str()};
}

/// Paragraphs and tables without their line breaks and columns: one space between two words.
inline std::string on_one_line(const std::string& lines) {
  std::istringstream words(lines);
  std::string result;
  for (std::string word; words >> word;) result += (result.empty() ? "" : " ") + word;
  return result;
}

}  // namespace retrace

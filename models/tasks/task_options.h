// What can be chosen of the tasks by name.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

namespace retrace {

class JsonFields;
class JsonObject;

/// What is chosen of a task's own options; the task gives the others. Each member has a row in task_option_rows().
struct TaskOptions {
  std::optional<std::int64_t> length = {};   // rows, pairs, characters of a word, or digits of a number
  std::optional<std::int64_t> vectors = {};  // nth-farthest: their number
  std::optional<std::int64_t> dims = {};     // nth-farthest: of a vector
  std::optional<std::string> program = {};   // execute: addition, control, full, copy, reverse or double
  std::optional<std::int64_t> nesting = {};  // execute: ops of a program
  bool held_only = false;                    // babi: no story in which nobody took the ball

  bool operator==(const TaskOptions&) const = default;
};

/// One of the options.
struct TaskOptionRow {
  const char* flag;  // on the command line: "--length"
  std::string_view description;
  std::variant<std::optional<std::int64_t> TaskOptions::*, std::optional<std::string> TaskOptions::*,
               bool TaskOptions::*>
      member;

  std::string_view name() const { return std::string_view(flag).substr(2); }
  bool is_given(const TaskOptions& options) const;
  /// "length 7"; for a truth, its name in words: "held only". The option has to be given.
  std::string in_words(const TaskOptions& options) const;
};
/// All of them, in the order of the members.
std::span<const TaskOptionRow> task_option_rows();

/// The options as the object "task_options" in the description of a stored model; 0 and "" stand for those not chosen.
JsonObject to_json(const TaskOptions& options);
/// Reads the members of "task_options". Throws ValueError for one that is missing or of another type.
TaskOptions task_options_in(const JsonFields& fields);

}  // namespace retrace

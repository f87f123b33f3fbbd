// The options of the tasks, by name. A new one is a member and a row here; flag, description in files and error
// messages follow.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>

namespace retrace {

class JsonFields;
class JsonObject;

/// The options of tasks that are given; a task has defaults for the others. Each member has a row in task_option_rows.
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
inline constexpr std::array task_option_rows{
    TaskOptionRow{"--length", "of a sequence, a word, a number or a segment (default: the task's)",
                  &TaskOptions::length},
    TaskOptionRow{"--vectors", "nth-farthest: number of vectors (default: 8)", &TaskOptions::vectors},
    TaskOptionRow{"--dims", "nth-farthest: dimensions of a vector (default: 16)", &TaskOptions::dims},
    TaskOptionRow{"--program", "execute: addition, control, full, copy, reverse or double", &TaskOptions::program},
    TaskOptionRow{"--nesting", "execute: ops of a program (default: 2)", &TaskOptions::nesting},
    TaskOptionRow{"--held-only", "babi: only stories in which the ball is held", &TaskOptions::held_only},
};

// Does not compile if a member is added: name it here, and give it a row above.
/// All options, in the order of their rows.
constexpr auto members_of(const TaskOptions& options) {
  const auto& [length, vectors, dims, program, nesting, held_only] = options;
  return std::tie(length, vectors, dims, program, nesting, held_only);
}
static_assert(std::tuple_size_v<decltype(members_of(std::declval<const TaskOptions&>()))> == task_option_rows.size());

/// The options as the object "task_options" in the description of a stored model; 0 and "" stand for those not chosen.
JsonObject to_json(const TaskOptions& options);
/// Reads the members of "task_options". Throws ValueError for one that is missing or of another type.
TaskOptions task_options_in(const JsonFields& fields);

}  // namespace retrace

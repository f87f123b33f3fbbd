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
  std::optional<std::string> program = {};   // execute: of program_names() in tasks/execute.h
  std::optional<std::int64_t> nesting = {};  // execute: ops of a program
  bool held_only = false;                    // babi: no story in which nobody took the ball

  // data (data_file.h):
  std::optional<std::string> data = {};       // the file
  std::optional<std::string> label = {};      // its column with the classes, ...
  std::optional<std::string> target = {};     // ... or those with the numbers to predict
  std::optional<std::string> sequence = {};   // that tells the sequences apart
  std::optional<std::int64_t> features = {};  // of a step
  std::optional<std::string> ignore = {};     // columns
  std::optional<std::string> separator = {};  // of columns

  // Sizes of single tasks, which leave the others as they are:
  std::optional<std::int64_t> objects = {};      // object-tracking
  std::optional<std::int64_t> moves = {};        // object-tracking
  std::optional<std::int64_t> facts = {};        // babi and babi-qa: the most of a story
  std::optional<std::int64_t> nodes = {};        // graph-reachability
  std::optional<std::int64_t> edges = {};        // graph-reachability
  std::optional<std::int64_t> vocabulary = {};   // pair-matching: elements to draw from
  std::optional<std::int64_t> keys = {};         // of the recall tasks, to draw from
  std::optional<std::int64_t> values = {};       // of the recall tasks and sorting, to draw from
  std::optional<std::int64_t> distractors = {};  // dynamic-recall: rows without content
  std::optional<std::int64_t> pairs = {};        // multi-query-recall
  std::optional<std::string> kind = {};          // babi-qa: of the stories, a number from 1 to 20 or a name

  bool operator==(const TaskOptions&) const = default;

  /// These options, completed by those of `defaults` where none was given.
  TaskOptions or_else(const TaskOptions& defaults) const;
};

/// One of the options.
struct TaskOptionRow {
  const char* flag;  // on the command line: "--length"
  std::string_view description;
  std::variant<std::optional<std::int64_t> TaskOptions::*, std::optional<std::string> TaskOptions::*,
               bool TaskOptions::*>
      member;
  bool in_every_file = true;  // false: is stored only where it is given, as files had it before the option was there

  std::string_view name() const { return std::string_view(flag).substr(2); }
  bool is_given(const TaskOptions& options) const;
  /// "length 7"; for a truth, its name in words: "held only". The option has to be given.
  std::string in_words(const TaskOptions& options) const;
  /// The value after the flag on a command line: "7"; empty for a truth. The option has to be given.
  std::string value_of(const TaskOptions& options) const;
};

/// All of them, in the order of the members.
inline constexpr std::array task_option_rows{
    TaskOptionRow{"--length", "of a sequence, a word, a number or a segment (default: the task's)",
                  &TaskOptions::length},
    TaskOptionRow{"--vectors", "nth-farthest: number of vectors (default: 8)", &TaskOptions::vectors},
    TaskOptionRow{"--dims", "nth-farthest: dimensions of a vector (default: 16)", &TaskOptions::dims},
    TaskOptionRow{"--program", "execute: addition, control, loops, algebra-control, full, copy, reverse or double",
                  &TaskOptions::program},
    TaskOptionRow{"--nesting", "execute: ops of a program (default: 2)", &TaskOptions::nesting},
    TaskOptionRow{"--held-only", "babi: only stories in which the ball is held", &TaskOptions::held_only},
    TaskOptionRow{"--data",
                  "data: a .csv or .tsv file with a header, a .npz file with the arrays x and y, or a .npy file with x",
                  &TaskOptions::data, false},
    TaskOptionRow{"--label", "data: column of the classes, as words or numbers; of a .npy file, the file with y",
                  &TaskOptions::label, false},
    TaskOptionRow{"--target", "data: instead, columns of numbers to predict, separated by commas, or the file with y",
                  &TaskOptions::target, false},
    TaskOptionRow{
        "--sequence",
        "data: column that tells sequences apart, whose lines are their steps (default: each line is a sample)",
        &TaskOptions::sequence, false},
    TaskOptionRow{"--features", "data: numbers of a step, if a line is a whole sequence (default: all of its numbers)",
                  &TaskOptions::features, false},
    TaskOptionRow{"--ignore", "data: columns to leave out, separated by commas", &TaskOptions::ignore, false},
    TaskOptionRow{"--separator", "data: of the columns, one character or tab (default: a comma; of a .tsv file, tab)",
                  &TaskOptions::separator, false},
    TaskOptionRow{"--objects", "object-tracking: their number (default: 3)", &TaskOptions::objects, false},
    TaskOptionRow{"--moves", "object-tracking: of all objects together (default: 10)", &TaskOptions::moves, false},
    TaskOptionRow{"--facts", "babi, babi-qa: the most that a story has (default: 5, 16)", &TaskOptions::facts, false},
    TaskOptionRow{"--nodes", "graph-reachability: of the graph (default: 6)", &TaskOptions::nodes, false},
    TaskOptionRow{"--edges", "graph-reachability: of the graph (default: 8)", &TaskOptions::edges, false},
    TaskOptionRow{"--vocabulary", "pair-matching: elements to draw from (default: 20)", &TaskOptions::vocabulary,
                  false},
    TaskOptionRow{"--keys", "the recall tasks: keys to draw from (default: the task's)", &TaskOptions::keys, false},
    TaskOptionRow{"--values", "the recall tasks, sorting: values to draw from (default: the task's)",
                  &TaskOptions::values, false},
    TaskOptionRow{"--distractors", "dynamic-recall: rows without content (default: 6)", &TaskOptions::distractors,
                  false},
    TaskOptionRow{"--pairs", "multi-query-recall: pairs that are shown and asked for (default: 8)", &TaskOptions::pairs,
                  false},
    TaskOptionRow{"--kind", "babi-qa: 1 to 20, or a name such as two-supporting-facts (default: all kinds)",
                  &TaskOptions::kind, false},
};

// Does not compile if a member is added: name it here, and give it a row above.
/// All options, in the order of their rows.
constexpr auto members_of(const TaskOptions& options) {
  const auto& [length, vectors, dims, program, nesting, held_only, data, label, target, sequence, features, ignore,
               separator, objects, moves, facts, nodes, edges, vocabulary, keys, values, distractors, pairs, kind] =
      options;
  return std::tie(length, vectors, dims, program, nesting, held_only, data, label, target, sequence, features, ignore,
                  separator, objects, moves, facts, nodes, edges, vocabulary, keys, values, distractors, pairs, kind);
}
static_assert(std::tuple_size_v<decltype(members_of(std::declval<const TaskOptions&>()))> == task_option_rows.size());

/// The options as the object "task_options" in the description of a stored model; 0 and "" stand for those not chosen.
JsonObject to_json(const TaskOptions& options);
/// Reads the members of "task_options". Throws ValueError for one that is missing or of another type.
TaskOptions task_options_in(const JsonFields& fields);

}  // namespace retrace

// The options of the tasks, by name. A new one is a member and a row here; flag, description in files and error
// messages follow.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <retrace/models/formats/option_rows.h>
#include <retrace/models/tasks/text/vocabulary.h>

namespace retrace {

/// The options of tasks that are given; a task has defaults for the others. Each member has a row in
/// task_option_rows().
struct TaskOptions {
  std::optional<std::int64_t> length = {};   // rows, pairs, characters of a word, digits of a number, tokens
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

  // text (text/text_task.h):
  std::optional<std::string> text = {};             // the file
  std::optional<std::string> validation_text = {};  // another file; if not given, a part of `text` is held out
  std::optional<std::string> test_text = {};        // likewise
  std::optional<TokenKind> tokens = {};             // if not given, characters

  // Sizes of single tasks, which leave the others as they are:
  std::optional<std::int64_t> objects = {};      // object-tracking
  std::optional<std::int64_t> moves = {};        // object-tracking
  std::optional<std::int64_t> facts = {};        // babi and babi-qa: maximum in a story
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

/// All of them, in the order of the members.
OptionRows<TaskOptions> task_option_rows();

/// The options that are given, as the object "task_options" in the description of a stored model.
JsonObject to_json(const TaskOptions& options);
/// Reads the members of "task_options". Throws ValueError if it is missing, and for a member of another type or out of
/// range.
TaskOptions task_options_in(const JsonFields& fields);

}  // namespace retrace

#include <retrace/models/formats/json_fields.h>
#include <retrace/models/tasks/task_options.h>

#include <array>

namespace retrace {
namespace {

std::span<const std::string_view> token_names() {
  static constexpr std::array names{name_of(TokenKind::characters), name_of(TokenKind::words)};
  return names;
}

}  // namespace

OptionRows<TaskOptions> task_option_rows() {
  using enum OptionGroup;
  static constexpr std::array rows{
      option<&TaskOptions::length>("length", task,
                                   "length of a sequence, a word, a number or a segment (default: the task's)"),
      option<&TaskOptions::vectors>("vectors", task, "nth-farthest: number of vectors (default: 8)"),
      option<&TaskOptions::dims>("dims", task, "nth-farthest: dimensions of a vector (default: 16)"),
      option<&TaskOptions::program>(
          "program", task, "execute: addition, control, loops, algebra-control, full, copy, reverse or double"),
      option<&TaskOptions::nesting>("nesting", task, "execute: ops of a program (default: 2)"),
      option<&TaskOptions::held_only>("held-only", task, "babi: only stories in which the ball is held"),
      option<&TaskOptions::data>("data", files,
                                 "data: a .csv or .tsv file with a header, a .npz file with the arrays x and "
                                 "y, or a .npy file with x"),
      option<&TaskOptions::label>("label", files,
                                  "data: column of the classes, as words or numbers; for a .npy file, the file with y"),
      option<&TaskOptions::target>(
          "target", files, "data: instead, columns of numbers to predict, separated by commas, or the file with y"),
      option<&TaskOptions::sequence>(
          "sequence", files,
          "data: column that tells sequences apart, whose lines are their steps (default: each line is a "
          "sample)"),
      option<&TaskOptions::features>(
          "features", files, "data: numbers of a step, if a line is a whole sequence (default: all of its numbers)"),
      option<&TaskOptions::ignore>("ignore", files, "data: columns to leave out, separated by commas"),
      option<&TaskOptions::separator>(
          "separator", files,
          "data: separator of columns, one character or tab (default: a comma; in a .tsv file, tab)"),
      option<&TaskOptions::text>("text", files, "text: a file in UTF-8"),
      option<&TaskOptions::validation_text>(
          "validation-text", files, "text: a file to validate on (default: 5 % of --text, before those of the test)"),
      option<&TaskOptions::test_text>("test-text", files, "text: a file to test on (default: the last 5 % of --text)"),
      option<&TaskOptions::tokens>("tokens", task, "text: characters (the default) or words", {.words = token_names}),
      option<&TaskOptions::objects>("objects", task, "object-tracking: number of objects (default: 3)"),
      option<&TaskOptions::moves>("moves", task, "object-tracking: moves of all objects together (default: 10)"),
      option<&TaskOptions::facts>("facts", task, "babi, babi-qa: maximum number of facts in a story (default: 5, 16)"),
      option<&TaskOptions::nodes>("nodes", task, "graph-reachability: nodes of the graph (default: 6)"),
      option<&TaskOptions::edges>("edges", task, "graph-reachability: edges of the graph (default: 8)"),
      option<&TaskOptions::vocabulary>("vocabulary", task, "pair-matching: elements to draw from (default: 20)"),
      option<&TaskOptions::keys>("keys", task, "recall tasks: keys to draw from (default: the task's)"),
      option<&TaskOptions::values>("values", task, "recall tasks, sorting: values to draw from (default: the task's)"),
      option<&TaskOptions::distractors>("distractors", task, "dynamic-recall: rows without content (default: 6)"),
      option<&TaskOptions::pairs>("pairs", task, "multi-query-recall: pairs that are shown and asked for (default: 8)"),
      option<&TaskOptions::kind>("kind", task,
                                 "babi-qa: 1 to 20, or a name such as two-supporting-facts (default: all kinds)")};
  return rows;
}

TaskOptions TaskOptions::or_else(const TaskOptions& defaults) const {
  TaskOptions result = defaults;
  for (const OptionRow<TaskOptions>& row : task_option_rows())
    if (row.is_given(*this)) row.set(result, row.value(*this));
  return result;
}

JsonObject to_json(const TaskOptions& options) { return to_json(given_options(task_option_rows(), options)); }

TaskOptions task_options_in(const JsonFields& fields) {
  fields.members("task_options");  // throws if there are none
  return options_in(task_option_rows(), fields, "task_options");
}

}  // namespace retrace

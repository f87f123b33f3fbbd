// The tables of a report, for the terminal and for the page.
#pragma once

#include <string>
#include <vector>

#include <retrace/models/formats/text_table.h>
#include <retrace/models/reports/evaluation/evaluation_report.h>

namespace retrace {

/// The title, the metric and what to compare it with, a line each.
std::vector<std::string> summary_lines(const Report& report);

/// A table, and a note on what it leaves out; empty if it has all.
struct ShownTable {
  std::vector<Row> rows;
  std::string note = {};
};
/// The metric of each category. Of many categories, the first.
ShownTable shown(const CategoryTable& table, TaskKind kind);
/// The accuracy of each class and what was answered: every class where there are few (the confusion matrix), otherwise
/// those that it was mistaken for most often. Of many classes, those with the most wrong answers.
ShownTable shown(const ClassTable& table);

/// "Wrong: 3 of 30 samples", or "Largest errors" of numbers.
std::string failures_title(const Report& report);
/// Where a sample stands: "line 12 of x.csv", or "sample 3" of those that a task made.
std::string place_of(const Failure& failure, const Report& report);
/// "right: rose (p = 0.2), answered: daisy (p = 0.8)"; of numbers, with the squared error.
std::string answer_line(const Failure& failure, TaskKind kind);

}  // namespace retrace

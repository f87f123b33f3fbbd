// What comparisons of any kind are written with: a table, the words around it, a page.
#pragma once

#include <string>
#include <vector>

#include <retrace/models/formats/digits.h>
#include <retrace/models/formats/text_table.h>
#include <retrace/models/reports/comparison/comparison.h>

namespace retrace {

/// "mean ± half width of its 95 % interval"; the mean alone where one number has no interval.
std::string with_half_width(const Summary& sample);

/// What was the same for every run: budget, seeds, test, optimiser.
std::vector<std::string> budget_in_words(const Comparison& comparison);
/// A line for every run that was left out.
std::vector<std::string> failures_in_words(const Comparison& comparison);
/// A line for every run that never came to the full task.
std::vector<std::string> unpassed_lessons_in_words(const Comparison& comparison);
/// What the numbers are to be held against, and what ± is.
std::string baselines_in_words(const Comparison& comparison);

/// A page that needs nothing else: the title, an <svg>, the table, a paragraph for each line.
std::string html_page(const std::string& title, const std::string& svg, const std::vector<Row>& table,
                      const std::vector<std::string>& lines);
/// The table for a terminal, with a left-aligned first column, followed by one paragraph per line.
std::string text_page(const std::vector<Row>& table, const std::vector<std::string>& lines);

}  // namespace retrace

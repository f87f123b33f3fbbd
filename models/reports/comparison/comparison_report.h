// Shared by the reports of comparisons and ablations: the table, the text around it, a page.
#pragma once

#include <string>
#include <vector>

#include <retrace/models/formats/digits.h>
#include <retrace/models/formats/text_table.h>
#include <retrace/models/reports/comparison/comparison.h>

namespace retrace {

/// "mean ± half width of its 95 % interval"; the mean alone for a single number, which has no interval.
std::string with_half_width(const Summary& sample);

/// The settings of all runs: budget, seeds, test, optimiser.
std::vector<std::string> budget_in_words(const Comparison& comparison);
/// A line per run that was left out or diverged.
std::vector<std::string> failures_in_words(const Comparison& comparison);
/// A line per run that never reached the full task.
std::vector<std::string> unpassed_lessons_in_words(const Comparison& comparison);
/// The baselines, and the meaning of ±.
std::string baselines_in_words(const Comparison& comparison);

/// A self-contained page: the title, an <svg>, the table, a paragraph per line.
std::string html_page(const std::string& title, const std::string& svg, const std::vector<Row>& table,
                      const std::vector<std::string>& lines);
/// The table for a terminal, with a left-aligned first column, followed by one paragraph per line.
std::string text_page(const std::vector<Row>& table, const std::vector<std::string>& lines);

}  // namespace retrace

// Shared by the reports of comparisons, ablations and searches: sentences, and a document of table and curves.
#pragma once

#include <string>
#include <vector>

#include <retrace/models/reports/comparison/comparison.h>
#include <retrace/models/reports/document/document.h>

namespace retrace {

/// "mean ± half width of its 95 % interval"; the mean alone for a single number, which has no interval.
std::string with_half_width(const Summary& sample);

/// The settings of all runs: budget, seeds, test, optimiser.
std::vector<std::string> budget_in_words(const Comparison& comparison);
/// "Chance 0.5; always 1 0.6; best possible 1."
std::string baselines_in_words(const Baselines& baselines);

/// The curves (on the page), the table, a paragraph per line of `terms`, and what every comparison ends with: a line
/// per run that never reached the full task, was left out or diverged, the baselines, and the meaning of ±.
Document comparison_document(const Comparison& comparison, std::string title, const std::string& curves,
                             const std::vector<FactRow>& table, const std::vector<std::string>& terms);

}  // namespace retrace

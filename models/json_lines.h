// What is written for other programs to read: one JSON object a line.
#pragma once

#include <string>
#include <vector>

#include <retrace/models/checks/checks.h>
#include <retrace/models/compare/compare.h>
#include <retrace/models/demos/demos.h>
#include <retrace/models/model_info.h>
#include <retrace/models/text/generate.h>
#include <retrace/models/text/text_run.h>
#include <retrace/models/training/run.h>

namespace retrace {

std::string to_json(const Metrics& metrics);
/// Reads a line that to_json(Metrics) wrote; null becomes NaN. For anything else, throws a ValueError that names the
/// `place` of the line, the expected value and the value found.
Metrics metrics_from_json(const std::string& place, const std::string& line);
/// The whole run: names, numbers, the test metric beside its yardsticks, the hash of the weights.
std::string to_json(const Run& run);
std::string to_json(const TextRun& run);
/// A summary of the gradient checks: cases, without_duals (cases), elements, skipped, failed_elements, undecided
/// (elements within the rounding noise of their differences), worst_name, worst_error and failed (names).
std::string to_json(const std::vector<CheckRow>& rows);
/// The results of `retrace demo`: {gradients: that summary, runs: [the runs]}.
std::string to_json(const std::vector<CheckRow>& checks, const std::vector<Run>& runs);
std::string to_json(const ModelInfo& info);
std::string to_json(const Writing& writing);
std::string to_json(const Comparison& comparison);
/// {demos: [{name, title, tables: [{title, see, rows: [{column: cell}], finding, holds}]}], holds}, with null for what
/// is not finite.
std::string to_json(const std::vector<Demo>& demos);

}  // namespace retrace

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
/// Back from such a line; NaN for null. Throws ValueError for anything else, which says at which `place` the line is,
/// what was expected there and what was found.
Metrics metrics_from_json(const std::string& place, const std::string& line);
/// The whole run: names, numbers, the test metric beside its yardsticks, the hash of the weights.
std::string to_json(const Run& run);
std::string to_json(const TextRun& run);
/// The table of gradient checks in a few numbers: cases, those of them without_duals, elements, of which skipped,
/// failed_elements and undecided (by differences, within whose rounding noise they are), worst_name, worst_error, failed
/// (names).
std::string to_json(const std::vector<CheckRow>& rows);
/// What `retrace demo` found: {gradients: that table, runs: [the runs]}.
std::string to_json(const std::vector<CheckRow>& checks, const std::vector<Run>& runs);
std::string to_json(const ModelInfo& info);
std::string to_json(const Writing& writing);
std::string to_json(const Comparison& comparison);
/// {demos: [{name, title, tables: [{title, see, rows: [{column: cell}], finding, holds}]}], holds}, with null for what
/// is not finite.
std::string to_json(const std::vector<Demo>& demos);

}  // namespace retrace

// The metrics of a training as a table, for spreadsheets and plotting programs.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <retrace/models/training/metrics.h>

namespace retrace {

/// The layers whose gradient norms a table has: those of the first validation that reported any.
std::vector<std::string> layers_in(std::span<const Metrics> history);

/// The first line of metrics.csv: step, loss, ..., as the members in metrics.jsonl, then "gradient_norm of <layer>" for
/// each layer.
std::string csv_header(const Metrics& metrics, std::span<const std::string> layers);
/// The line of one validation. A number that is not finite is nan, inf or -inf; the norm of a layer that it did not
/// report is left empty.
std::string csv_line(const Metrics& metrics, std::span<const std::string> layers);

}  // namespace retrace

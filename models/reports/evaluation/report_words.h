// Words that the reports of tasks and of text have in common.
#pragma once

#include <cstdint>
#include <string>

#include <retrace/models/reports/evaluation/estimate.h>

namespace retrace {

/// The 95 % interval: "0.91 to 0.9208".
std::string interval_text(const Estimate& estimate);
/// " (a checkpoint after step 300)"; nothing for step 0, the weights of a training that has ended.
std::string checkpoint_note(std::int64_t step);

}  // namespace retrace

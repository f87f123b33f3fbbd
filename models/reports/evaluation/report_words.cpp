#include <retrace/core/base/error.h>
#include <retrace/models/formats/digits.h>
#include <retrace/models/reports/evaluation/report_words.h>

namespace retrace {

std::string interval_text(const Estimate& estimate) {
  return text(in_digits(estimate.low, "%.4g"), " to ", in_digits(estimate.high, "%.4g"));
}

std::string checkpoint_note(std::int64_t step) {
  return step > 0 ? text(" (a checkpoint after step ", step, ")") : std::string();
}

}  // namespace retrace

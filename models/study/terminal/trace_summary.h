// A long trace in a table.
#pragma once

#include <string>

#include <retrace/core/trace/trace.h>

namespace retrace {

/// Title and notes; a line for each record, or for all steps that repeat it, with the norms of its (first) result and
/// of that one's gradient, of the first and the last of these; and the elements that were checked by three ways.
std::string summary_of(const Trace& trace);

}  // namespace retrace

// A trace as it is shown.
#pragma once

#include <retrace/core/trace/trace.h>

namespace retrace {

/// The trace with its names as they may be printed, drawn and put into a page (core/base/printable.h): those in a file
/// may have control codes.
Trace with_printable_names(Trace trace);

}  // namespace retrace

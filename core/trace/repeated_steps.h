// Steps that a trace repeats, so that a drawing can show them once.
#pragma once

#include <cstddef>
#include <vector>

#include <retrace/core/trace/trace.h>

namespace retrace {

/// For each record, the first one that does the same in an earlier step, or itself. Records of one module and op do the
/// same if their outputs are named as steps are (h, h_1, h_2) or, without a name, go to the same place of such records.
std::vector<std::size_t> first_of_repeated(const Trace& trace);

}  // namespace retrace

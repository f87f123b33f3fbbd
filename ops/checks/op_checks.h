// The gradient-check table of the ops: a row with cases for each op of ops.def.
#pragma once

#include <vector>

#include <retrace/ops/checks/check_case.h>

namespace retrace {

/// Every op of ops.def with its cases, in that order. The same points every time.
std::vector<CheckedName> op_cases();

}  // namespace retrace

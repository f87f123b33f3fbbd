// A case gives back the memory that it took, and no gradient to inputs that want none.
#pragma once

#include <string>
#include <vector>

#include <retrace/ops/checks/check_case.h>

namespace retrace {

/// Runs the case, forward and backward, and compares the pool's live bytes before and after. The inputs of an op want a
/// gradient one at a time; of a module, the weights want one and x does not. Empty if both rules hold.
std::vector<std::string> memory_failures(const CheckedName& checked, const CheckCase& one);

}  // namespace retrace

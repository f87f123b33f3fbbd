// The gradient-check table of the modules and of the models.
#pragma once

#include <string_view>
#include <vector>

#include <retrace/ops/checks/check_case.h>

namespace retrace {

/// Every MODULE and VARIANT of modules.def and every network of models, with their cases. The same points every time.
std::vector<CheckedName> module_cases();
/// A model by its name (sequence_model.h), at small sizes: every weight, and the sequence; again with dropout, layers
/// and its last answers, if its choices have dropout. Throws ShapeError where it does not answer [B, O].
CheckedName registered_case(std::string_view name);

}  // namespace retrace

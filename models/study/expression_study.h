// An expression of the reader's own, to study.
#pragma once

#include <cstdint>
#include <vector>

#include <retrace/models/study/computation.h>
#include <retrace/models/study/expression/expression.h>

namespace retrace {

/// The expression at these inputs, with a random cotangent of its result, if that has several elements. Inputs of real
/// numbers want gradients; integers are constants. The title is the expression. Throws ValueError if all inputs are
/// integers.
Computation computation_of(const Expression& expression, const std::vector<NamedTensor>& inputs,
                           std::uint64_t seed = 0);

}  // namespace retrace

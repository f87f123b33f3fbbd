// The operands of gated_memory.
#pragma once

#include <retrace/ops/loops/operands.h>
#include <retrace/ops/ops.h>

namespace retrace {

struct GatedMemoryOperands {
  Tensor memory, candidate, of_memory, of_input, input_bias, forget_bias;
};

/// Throws unless the shapes fit together.
void check(const GatedMemoryOperands& in, bool coupled);
/// The twin of gated_memory, composed of other ops.
GatedMemoryResult composed(GatedMemoryOperands in, bool coupled);

}  // namespace retrace

// Computes an expression that has been read.
#pragma once

#include <retrace/core/tensor/tensor.h>
#include <retrace/models/study/expression/program.h>

namespace retrace::expressions {

/// The result of the last step, for inputs in the order of program.inputs. Throws ExpressionError with the place of the
/// step whose op throws.
Tensor evaluated(const Program& program, const Tensors& inputs);

}  // namespace retrace::expressions

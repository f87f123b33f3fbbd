// Shared by the losses that are composed of other ops.
#pragma once

#include <initializer_list>

#include <retrace/ops/loops/operands.h>
#include <retrace/ops/ops.h>

namespace retrace {

/// Throws an error that names the operands unless all are real numbers of one shape, in dtypes that combine.
void check_alike(const char* function, std::initializer_list<NamedOperand> operands);
/// Throws an error that names w and x unless w broadcasts to x, in a dtype that combines with its own.
void check_broadcasts(const char* function, const char* role_w, const Tensor& w, const char* role_x, const Tensor& x);
/// The targets 1 and -1 of losses of this shape and dtype, as constants. Throws ShapeError or, with position and value,
/// ValueError.
Tensor checked_signs(const char* function, const Tensor& target, const Shape& shape, Dtype dtype);
/// The losses as they are, their sum or their mean, which is 0 for none.
Tensor reduced(const Tensor& losses, Reduction reduction);

}  // namespace retrace

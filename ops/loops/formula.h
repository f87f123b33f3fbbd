// Parts of the formulas of one call (see core/tape/op_info.h for the notation).
#pragma once

#include <array>
#include <string>

#include <retrace/core/tape/attribute.h>
#include <retrace/core/tape/record.h>
#include <retrace/ops/loops/strided.h>
#include <retrace/ops/ops.h>

namespace retrace {

/// A number as a factor or an exponent: "0.5", "(-2)".
std::string as_factor(double number);
/// " along axis 1", or " along axes 0 and 2" for the axes k with flags[k]; "" for all axes.
std::string along_axis(int axis);
std::string along_axes(const std::array<bool, max_rank>& flags, int rank);
/// "sum dy along axis 0": the sum over all axes but the last `last_axes`; "dy" if there are no other axes.
std::string sum_over_rows(const std::string& product, int rank, int last_axes);
/// "i, j, k": one index letter per axis.
std::string index_letters(int rank);
/// index_letters with another position along the axis: "i, t, k".
std::string index_letters(int rank, int axis, const std::string& position);
/// The index letter of one axis.
std::string index_letter(int axis);
/// The index that selects the part of this shape at this place from the whole: "1, 0:3, 0:5:2". If axes of length 1
/// allow several, any of those that select the same elements.
std::string index_of_part(const Shape& whole, const Shape& part, const Strided& place);
/// The list with "zeros" among its attributes where they are strong.
AttributeList with_zeros(AttributeList list, Zeros zeros);
/// The formulas of an op whose y is a part of x. Its attributes are the Strided of that part.
Formulas part_formulas(const Record& r);

}  // namespace retrace

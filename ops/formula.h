// Parts of the formulas of one call (core/op_info.h has their notation).
#pragma once

#include <array>
#include <string>

#include <retrace/core/record.h>
#include <retrace/ops/strided.h>

namespace retrace {

/// A number that stands in a product or as an exponent: "0.5", "(-2)".
std::string as_factor(double number);
/// " along axis 1", or for flags[k] saying whether axis k of x is meant " along axes 0 and 2"; nothing for all axes.
std::string along_axis(int axis);
std::string along_axes(const std::array<bool, max_rank>& flags, int rank);
/// "sum dy along axis 0": over all axes of a tensor but the last ones; "dy" where there are no others.
std::string sum_over_rows(const std::string& product, int rank, int last_axes);
/// "i, j, k", an index letter for each axis.
std::string index_letters(int rank);
/// The letter of one axis.
std::string index_letter(int axis);
/// The index that takes a part of this shape, lying there, out of the whole: "1, 0:3, 0:5:2"; where axes of
/// length 1 leave a choice, one of those that take the same.
std::string index_of_part(const Shape& whole, const Shape& part, const Strided& place);
/// The formulas of an op whose y is a part of x; its attributes are the Strided.
Formulas part_formulas(const Record& r);

}  // namespace retrace

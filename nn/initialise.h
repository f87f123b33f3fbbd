// How weights begin.
#pragma once

#include <initializer_list>
#include <string_view>

#include <retrace/core/random.h>

namespace retrace {

/// The shape of a layer's parameter, checked before any of the layer is made. Throws ShapeError where an extent is
/// negative, and MemoryError where the parameter is larger than the memory of this machine, with the names of both.
Shape parameter_shape(const char* layer, std::string_view parameter, std::initializer_list<std::int64_t> extents);
/// Uniform in +-sqrt(6 / (fan_in + fan_out)) for a weight [fan_out, fan_in] (Glorot and Bengio, 2010).
Tensor glorot_uniform(const Shape& shape, Random& random);
/// Normal with variance 2 / (fan_in + fan_out).
Tensor glorot_normal(const Shape& shape, Random& random);
/// Rows (or columns, where those are fewer) of length `gain` at right angles to each other.
Tensor orthogonal(std::int64_t rows, std::int64_t columns, Random& random, double gain = 1);
/// Normal with that deviation, drawn again beyond two deviations.
Tensor truncated_normal(const Shape& shape, double deviation, Random& random);

}  // namespace retrace

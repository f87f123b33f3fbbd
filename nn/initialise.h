// How weights begin.
#pragma once

#include <initializer_list>
#include <string_view>

#include <retrace/core/random.h>

namespace retrace {

/// The shape of a layer's parameter, checked before any part of the layer is allocated. Throws, naming the layer and
/// the parameter: ShapeError if an extent is negative, MemoryError if the parameter is larger than this machine's
/// memory.
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

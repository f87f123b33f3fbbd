// Initial weights.
#pragma once

#include <initializer_list>
#include <string_view>

#include <retrace/core/tensor/random.h>

namespace retrace {

/// Whether a layer has biases.
struct BiasOptions {
  bool bias = true;
};

/// The shape of a layer's parameter, checked before any part of the layer is allocated. Throws ShapeError if an extent
/// is negative, MemoryError if the parameter is larger than this machine's memory; both name the layer and the
/// parameter.
Shape parameter_shape(const char* layer, std::string_view parameter, std::initializer_list<std::int64_t> extents);
/// Uniform in +-sqrt(6 / (fan_in + fan_out)) for a weight [fan_out, fan_in] (Glorot and Bengio, 2010). Throws
/// ShapeError if the shape is not that of a matrix.
Tensor glorot_uniform(const Shape& shape, Random& random);
/// Normal with variance 2 / (fan_in + fan_out) for a weight [fan_out, fan_in]. Throws ShapeError if the shape is not
/// that of a matrix.
Tensor glorot_normal(const Shape& shape, Random& random);
/// A matrix whose rows (or columns, if there are fewer) are orthogonal to each other and have length `gain` (Saxe et
/// al., 2014).
Tensor orthogonal(std::int64_t rows, std::int64_t columns, Random& random, double gain = 1);
/// Normal with this standard deviation; values beyond two deviations are drawn again.
Tensor truncated_normal(const Shape& shape, double deviation, Random& random);

}  // namespace retrace

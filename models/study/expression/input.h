// The inputs of an expression as they are written on the command line.
#pragma once

#include <cstdint>
#include <string_view>

#include <retrace/nn/module/module.h>

namespace retrace {

/// An input from NAME=VALUE, where VALUE is
///   - a shape, 4x8: standard normal numbers, drawn from the seed and the name alone;
///   - numbers, [[1, 2], [3, nan]] or 0.5;
///   - integers, [0, 2, 1]i64, which stay constants;
///   - the path of a .npy file, whose real numbers are converted to the dtype.
/// Throws ExpressionError, with the place, for anything else; FileError for a file that cannot be read.
NamedTensor parse_input(std::string_view text, std::uint64_t seed, Dtype dtype);

}  // namespace retrace

// Arrays in IDX files, the format of MNIST and its successors.
#pragma once

#include <optional>
#include <string>

#include <retrace/core/tensor/tensor.h>

namespace retrace {

/// Reads the array of an IDX file, or of one that is packed as x.gz (in a build with zlib): two zero bytes, the type of
/// the values, the number of axes, their extents in 4 bytes each, and the values, the highest byte first. Integers of
/// 1, 2 and 4 bytes become i64, floats f32 and f64, or all of them `dtype`. Strict: the values must fill the file.
///
///   Tensor images = read_idx("train-images-idx3-ubyte.gz", f32) / 255;  // [60000, 28, 28]
///   Tensor labels = read_idx("train-labels-idx1-ubyte.gz");             // [60000], i64
///
/// Throws FileError with the path, the reason and the remedy; DtypeError for dual, and for i64 where the values are
/// floats.
Tensor read_idx(const std::string& path, std::optional<Dtype> dtype = {});

}  // namespace retrace

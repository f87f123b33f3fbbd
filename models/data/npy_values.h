// The values in a .npy file: their types, and the order in which they stand.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <retrace/core/tensor/tensor.h>

namespace retrace {

/// Where the values of a file go in a tensor, one after the other.
class NpyPlaces {
 public:
  /// In Fortran order, the first axis is the fastest.
  NpyPlaces(const Shape& shape, bool fortran_order);
  std::size_t next();

 private:
  struct Axis {
    std::int64_t extent, stride, at = 0;
  };
  std::vector<Axis> axes_;  // the fastest first
  std::int64_t place_ = 0;
};

/// A type of values.
struct NpyType {
  std::string_view name;  // as descr names it after the byte order
  std::size_t bytes;      // of a value
  Dtype dtype;            // that it becomes
  /// Puts the values in some bytes, the highest byte of each first if `swapped`, to the next places of a tensor. Throws
  /// FileError, in the name of `who`, for an unsigned number that i64 does not hold.
  void (*convert)(std::string_view bytes, bool swapped, NpyPlaces& places, const Tensor& to, const std::string& who);
};

/// The type that a descr ("<f4", "|u1", ">i8") names. Throws FileError, in the name of `who` and with the remedy, for
/// one that is not read.
const NpyType& npy_type(std::string_view descr, const std::string& who);

}  // namespace retrace

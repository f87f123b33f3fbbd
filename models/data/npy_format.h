// The bytes of an array in NumPy's .npy format, in a file of their own or inside of an .npz file.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>

#include <retrace/core/tensor/tensor.h>

namespace retrace {

/// Reads an array that is `count` bytes long: see read_npy. Errors begin with `who`.
Tensor read_npy_array(std::istream& bytes, std::uint64_t count, const std::string& who);
Tensor read_npy_array(std::string bytes, const std::string& who);

/// The header that numpy.save writes before the values, which then begin at a multiple of 64 bytes. Throws ValueError
/// for a tensor without values and DtypeError for a dual one, with `who` in front.
std::string npy_header(const Tensor& x, const std::string& who);

}  // namespace retrace

// Arrays in NumPy's .npy files.
#pragma once

#include <string>

#include <retrace/core/tensor/tensor.h>

namespace retrace {

/// Reads one array: integers of 1 to 8 bytes, signed or not, and truths as i64, floats of 2 and 4 bytes as f32 and of 8
/// as f64; with the lowest or the highest byte first, in C or in Fortran order, of format versions 1 to 3, plain or
/// packed as x.npy.gz (in a build with zlib). The file has the bytes 93 "NUMPY", two of the version, the header's
/// length (2 bytes, 4 from version 2 on), the header, which is a Python dictionary with descr, fortran_order and shape,
/// and the raw values. Strict: the values must fill the file. Throws FileError with the path, the reason and the
/// remedy.
Tensor read_npy(const std::string& path);
/// Reads the contents of such a file, which errors call `name`. Throws likewise.
Tensor parse_npy(std::string content, const std::string& name);

/// Writes f32, f64 or i64 as version 1, as numpy.save does. On an error, an older file is left unchanged. Throws
/// FileError if the system refuses; DtypeError for a dual tensor; ValueError for one without values.
void write_npy(const std::string& path, const Tensor& x);

}  // namespace retrace

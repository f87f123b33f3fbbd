// Arrays by name in NumPy's .npz files.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include <retrace/core/tensor/tensor.h>

namespace retrace {

/// Reads the arrays that numpy.savez wrote, by their names: a zip archive of .npy files (data/npy.h says which arrays
/// are read). Those of numpy.savez_compressed need a build with zlib. Checksums are compared. Throws FileError with the
/// path, the array, the reason and the remedy.
std::map<std::string, Tensor> read_npz(const std::string& path);
/// Reads one of them. Also throws ValueError, with the nearest right name, for one that the file does not have.
Tensor read_npz(const std::string& path, std::string_view name);

/// Writes f32, f64 and i64 arrays as numpy.savez does, without compression. On an error, an older file is left
/// unchanged. Throws FileError if the system refuses; DtypeError for a dual tensor; ValueError for one without values,
/// and for a name that is empty or arrays of more than 4 GiB.
void write_npz(const std::string& path, const std::map<std::string, Tensor>& arrays);

}  // namespace retrace

// Tensors in files, in the safetensors format: 8 bytes with the length of a JSON header, the header, the raw values.
#pragma once

#include <map>
#include <string>

#include <retrace/core/tensor.h>

namespace retrace {

struct SafetensorsFile {
  std::map<std::string, Tensor> tensors;
  std::map<std::string, std::string> metadata;
};

/// Reads f32, f64 and i64 tensors. Strict: the tensors must fill the data one after the other, without gaps, sizes must
/// fit the shapes, and no name may come twice. A file that write_safetensors wrote is read only if every bit is as it
/// was; files of other programs have no checksum. Throws FileError with the path, what is wrong and the remedy.
SafetensorsFile read_safetensors(const std::string& path);

/// Writes the tensors in the order of their names, and a checksum of the whole file, as the entry "retrace.crc64" of
/// its metadata, which read_safetensors keeps for itself. The file is whole or, on any error, what it was before: it is
/// written beside its place, flushed to the disk and renamed. Throws FileError where the system refuses; DtypeError for
/// a dual tensor; ValueError for a tensor named "__metadata__", an entry "retrace.crc64", for text that is not UTF-8
/// and for an undefined tensor.
void write_safetensors(const std::string& path, const std::map<std::string, Tensor>& tensors,
                       const std::map<std::string, std::string>& metadata = {});

}  // namespace retrace

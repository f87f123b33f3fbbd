// Tensors in files, in the safetensors format: 8 bytes with the length of a JSON header, the header, the raw values.
#pragma once

#include <map>
#include <string>

#include <retrace/core/tensor.h>

namespace retrace {

/// The contents of a safetensors file.
struct SafetensorsFile {
  std::map<std::string, Tensor> tensors;
  std::map<std::string, std::string> metadata;
};

/// Reads f32, f64 and i64 tensors. Strict: the tensors must fill the data one after the other, without gaps, sizes must
/// fit the shapes, and no name may come twice. Rejects a file of write_safetensors that has changed since, by its
/// checksum; files of other programs have none. Throws FileError with the path, the defect and the remedy.
SafetensorsFile read_safetensors(const std::string& path);

/// Writes the tensors in the order of their names, and a checksum of the whole file as the metadata entry
/// "retrace.crc64", which read_safetensors does not return. On any error the previous file is left unchanged: the new
/// one is written beside it, flushed to the disk and renamed. Throws FileError if the system refuses; DtypeError for a
/// dual tensor; ValueError for an undefined tensor, a tensor named "__metadata__", a metadata entry "retrace.crc64" and
/// text that is not UTF-8.
void write_safetensors(const std::string& path, const std::map<std::string, Tensor>& tensors,
                       const std::map<std::string, std::string>& metadata = {});

}  // namespace retrace

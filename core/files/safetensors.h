// Tensors in files, in the safetensors format: 8 bytes with the length of a JSON header, the header, the raw values.
#pragma once

#include <map>
#include <string>

#include <retrace/core/tensor/tensor.h>

namespace retrace {

/// The contents of a safetensors file.
struct SafetensorsFile {
  std::map<std::string, Tensor> tensors;
  std::map<std::string, std::string> metadata;
};

/// Reads F32, F16 and BF16 as f32, F64 as f64, BOOL and integers but U64 as i64. Strict: the tensors must fill the data
/// one after the other, sizes must fit the shapes, the header has at most 100 MB, no name may come twice; before all of
/// this is known, nothing is allocated for a tensor. Rejects a file of write_safetensors that has changed since, by its
/// checksum; files of other programs have none. Of a model in several files, takes the path of the index, which ends in
/// ".index.json": see safetensors_index.h. Throws FileError with the path, the defect and the remedy.
SafetensorsFile read_safetensors(const std::string& path);

/// Writes the tensors in the order of their names, and a checksum of tensors and metadata, however a program may write
/// them again, as the metadata entry "retrace.checksum", which read_safetensors does not return. On any error the
/// previous file is left unchanged: the new one is written beside it, flushed to the disk and renamed. Throws FileError
/// if the system refuses; DtypeError for a dual tensor; ValueError for an undefined tensor, a tensor named
/// "__metadata__", a metadata entry with nearly the name of the checksum, text that is not UTF-8, and a header of more
/// than 100 MB.
void write_safetensors(const std::string& path, const std::map<std::string, Tensor>& tensors,
                       const std::map<std::string, std::string>& metadata = {});

}  // namespace retrace

// The index of a model in several safetensors files, as Hugging Face's libraries write large models.
#pragma once

#include <map>
#include <set>
#include <string>

namespace retrace {

/// Whether a path is that of an index: it ends in ".index.json", as "model.safetensors.index.json" does.
bool is_safetensors_index(const std::string& path);

/// Reads {"weight_map": {"layer.weight": "model-00001-of-00002.safetensors", ...}, ...}: the paths of the files, which
/// are in the folder of the index or below, with the names of their tensors. read_safetensors then returns the tensors
/// of all files, and their metadata: where several have a key, the value of the first. The index must name every tensor
/// of its files. Throws FileError with the path, the defect and the remedy.
std::map<std::string, std::set<std::string>> read_safetensors_index(const std::string& path);

/// Throws the FileError of an index that does not fit its files.
[[noreturn]] void refuse_safetensors_index(const std::string& path, const std::string& what);

}  // namespace retrace

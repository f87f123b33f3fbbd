// The header of a safetensors file: the tensors with their places, and the metadata.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <retrace/core/files/safetensors_types.h>
#include <retrace/core/tensor/shape.h>

namespace retrace {

/// The longest header that the format allows, in bytes.
inline constexpr std::uint64_t max_safetensors_header = 100'000'000;

/// A tensor, as the header tells it.
struct SafetensorsEntry {
  std::string name;
  const StoredType* type = nullptr;
  Shape shape;
  std::uint64_t begin = 0;  // of its bytes, counted from the end of the header
  std::uint64_t end = 0;
};

/// All that a header says.
struct SafetensorsHeader {
  std::vector<SafetensorsEntry> entries;  // in the order of their bytes
  std::map<std::string, std::string> metadata;
};

/// Reads the header of a file with `data` bytes after it. Throws FileError for anything outside the format: see
/// read_safetensors.
SafetensorsHeader read_safetensors_header(const std::string& path, const std::string& header, std::uint64_t data);

/// Throws the FileError of a file that is not of the format.
[[noreturn]] void refuse_safetensors(const std::string& path, const std::string& what);

}  // namespace retrace

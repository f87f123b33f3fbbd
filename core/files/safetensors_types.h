// The element types of the safetensors format, and the dtypes that hold their values.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <retrace/core/tensor/dtype.h>

namespace retrace {

/// A type that is read. Its values become elements of `dtype`, exactly: by `convert`, or if that is null, they are
/// these elements.
struct StoredType {
  std::string_view name;  // "BF16"
  std::size_t size;       // of an element, in bytes
  Dtype dtype;
  void (*convert)(const std::byte* from, std::size_t count, void* to) = nullptr;
};

/// Whether the format has a type of this name.
bool is_type_name(std::string_view name);
/// The type of this name; null if it is not read.
const StoredType* find_stored_type(std::string_view name);
/// The type in which tensors of f32, f64 or i64 are written.
const StoredType& stored_type_of(Dtype dtype);
/// Every type that is read: "F32, F64, ... and BOOL".
std::string stored_type_names();

}  // namespace retrace

// Tensors as nested lists of JSON; a tensor without axes is a number.
#pragma once

#include <retrace/core/files/json.h>
#include <retrace/core/files/json_tree.h>
#include <retrace/core/tensor/tensor.h>

namespace retrace {

/// Writes f64 or i64. What is not finite is null.
void write_tensor(JsonWriter& writer, const Tensor& x);

/// Reads f64; null is NaN. Throws ValueError for anything but numbers in lists of one length at each level: "has a list
/// of 2 beside one of 3".
Tensor tensor_from(const JsonValue& numbers);

}  // namespace retrace

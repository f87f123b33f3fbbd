// The constants of one call of an op, by name, for those who read tapes: "axis" of a softmax, "heads" of an attention.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include <retrace/core/tensor/tensor.h>

namespace retrace {

/// A tensor is one that an op drew or was given beside its inputs: the mask of dropout, the lengths of sequences.
using AttributeValue = std::variant<bool, std::int64_t, double, std::string, std::vector<std::int64_t>, Tensor>;

/// A constant of a call, with its name in the formulas.
struct Attribute {
  std::string name;
  AttributeValue value;
};

/// In the order in which an op lists them.
using AttributeList = std::vector<Attribute>;

}  // namespace retrace

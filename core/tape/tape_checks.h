// How the errors of recording and of the backward walk name a tensor.
#pragma once

#include <string>

#include <retrace/core/tensor/tensor.h>

namespace retrace {

/// "output 0 [2, 3]", or its name: an operand in an error of the tape.
inline std::string describe_at(const char* role, std::size_t i, const Tensor& x) {
  if (x.name().empty()) return text(role, " ", i, " ", x.shape());
  return text(role, " '", x.name(), "' ", x.shape());
}

}  // namespace retrace

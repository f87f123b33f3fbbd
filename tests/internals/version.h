// The number of changes to the values of a tensor, which only core can see.
#pragma once

#include <cstdint>

#include <retrace/core/tensor/op_access.h>
#include <retrace/core/tensor/storage.h>

namespace retrace {

inline std::uint64_t version_of(const Tensor& x) { return OpAccess::node(x).storage->version / 2; }

}  // namespace retrace

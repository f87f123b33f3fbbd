// The number of changes to the values of a tensor, which only core can see.
#pragma once

#include <cstdint>

#include <retrace/core/node.h>
#include <retrace/core/storage.h>
#include <retrace/core/tensor.h>

namespace retrace {

inline std::uint64_t version_of(const Tensor& x) { return x.node().storage->version; }

}  // namespace retrace

#pragma once

#include <cstdlib>
#include <string_view>

namespace retrace {

/// Whether the tests of this folder run in full, as `ctest -L trust` asks, and not on a seeded sample.
inline bool in_full() {
  const char* asked = std::getenv("RETRACE_TRUST");
  return asked != nullptr && std::string_view(asked) == "full";
}

}  // namespace retrace

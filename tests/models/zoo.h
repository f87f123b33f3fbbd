// Whether this build has the zoo (models/zoo).
#pragma once

#include <retrace/models/networks/sequence_model.h>

namespace retrace {

inline bool has_zoo() { return !models_in("zoo").empty(); }

/// A part of a text that is there only with the zoo.
inline const char* with_zoo(const char* text) { return has_zoo() ? text : ""; }

}  // namespace retrace

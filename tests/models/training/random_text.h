// A text for tests of language models.
#pragma once

#include <string>

#include <retrace/core/tensor/random.h>

namespace retrace {

/// Each character drawn evenly from 16: nothing can be learned.
inline std::string random_text(int count) {
  Random random(3);
  std::string result;
  for (int k = 0; k < count; ++k) result += static_cast<char>('a' + random.integer(16));
  return result;
}

}  // namespace retrace

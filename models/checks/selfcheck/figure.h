// One line of the table of a selfcheck.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace retrace {

struct Figure {
  std::string part;
  std::string what;        // was checked
  std::int64_t count = 0;  // of what was checked
  double worst = 0;        // at most the limit, if all is well
  double limit = 0;
  std::vector<std::string> failures = {};

  bool passed() const { return failures.empty() && worst <= limit; }
};

/// The parts, each in a file of its name.
std::vector<Figure> check_threads();
std::vector<Figure> check_files();
std::vector<Figure> check_accuracy();

/// Checks the accuracy at every `stride`-th float.
std::vector<Figure> check_accuracy_of_floats(std::uint64_t stride);

}  // namespace retrace

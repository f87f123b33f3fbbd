// Checks that take at most a minute on the reader's own machine.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <retrace/models/checks/selfcheck/figure.h>

namespace retrace {

/// A part of the check: its name and a function that does it.
struct SelfcheckPart {
  std::string_view name;
  std::vector<Figure> (*run)();
};
/// gradients, bugs, rows, threads, files, accuracy.
std::span<const SelfcheckPart> selfcheck_parts();

/// {"passed", "rows"}.
std::string to_json(const std::vector<Figure>& figures);

}  // namespace retrace

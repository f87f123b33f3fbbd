// Runs the gradient-check table.
#pragma once

#include <string>
#include <vector>

#include <retrace/models/checks/check_case.h>

namespace retrace {

/// What the checks of one op or module found.
struct CheckRow {
  std::string name;
  std::int64_t cases = 0;
  std::int64_t elements = 0;
  std::int64_t skipped = 0;          // elements, too close to a kink
  std::int64_t failed_elements = 0;  // by finite differences
  std::int64_t undecided = 0;        // elements within the rounding noise of their differences: duals decided
  std::vector<std::string> without_duals = {};  // why a case was not checked by dual numbers, one line each
  double worst_error = 0;                       // by finite differences
  double exact_error = 0;                       // by dual numbers
  std::vector<std::string> failures;            // one line each; empty: all is well
};

/// Every case of the named ops, modules and models (all of them, for no names). Case, hyphens and underscores of a name
/// do not matter: "linear" is the op and the module, "relational-rnn" RelationalRNN, "rmc" RmcModel. Throws ValueError,
/// with the nearest right name, for one that is not known.
std::vector<CheckRow> run_checks(const std::vector<std::string>& names = {});

}  // namespace retrace

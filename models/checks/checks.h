// Runs the gradient-check table.
#pragma once

#include <string>
#include <vector>

#include <retrace/ops/checks/check_case.h>

namespace retrace {

/// The result of the checks of one op or module.
struct CheckRow {
  std::string name;
  std::int64_t cases = 0;
  std::int64_t elements = 0;
  std::int64_t skipped = 0;          // elements too close to a kink
  std::int64_t failed_elements = 0;  // by finite differences
  std::int64_t undecided = 0;        // elements within the rounding noise of their differences, decided by dual numbers
  std::int64_t at_kinks = 0;         // right elements at kinks
  std::int64_t divergent = 0;        // right elements whose differences do not converge
  std::vector<std::string> explanations = {};   // why elements are right that the differences did not decide
  std::vector<std::string> without_duals = {};  // reasons why cases were not checked by dual numbers, one line per case
  double worst_error = 0;                       // by finite differences
  double exact_error = 0;                       // by dual numbers
  std::vector<std::string> failures;            // one line per failure
};

/// Counts the result of one more case.
void add_case(CheckRow& row, const GradcheckResult& result);

/// The rows of the table that are called so, ops first, then modules, then registered models; all of them if no name is
/// given. Names ignore case, hyphens and underscores: "linear" is the op and the module, "relational-rnn"
/// RelationalRNN, "rmc" RmcModel. Throws ValueError for an unknown name and suggests the nearest known one.
std::vector<std::string> checked_names(const std::vector<std::string>& names = {});

/// Every case of those rows: its derivatives of that order, with cotangents and directions of that seed
/// (GradcheckOptions), and for order 1 and seed 0 the generic rules. Throws as checked_names does.
std::vector<CheckRow> run_checks(const std::vector<std::string>& names = {}, int order = 1, std::uint64_t seed = 0);

/// The sums of all rows and their worst errors, with the name of the row of the worst one by differences. The failures
/// are the names of the rows that failed.
CheckRow total_of(const std::vector<CheckRow>& rows);

/// The total: cases, without_duals (cases), elements, skipped, failed_elements, undecided, at_kinks and divergent
/// (elements), worst_error, exact_error, worst_name and failed (names); and "rows", with the same of each and its name,
/// passed, explanations and failures.
std::string to_json(const std::vector<CheckRow>& rows);

}  // namespace retrace

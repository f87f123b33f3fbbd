// A row of a batch has the bits that it has alone.
#pragma once

#include <string>
#include <vector>

#include <retrace/models/checks/case_run.h>

namespace retrace {

struct RowRule {
  std::int64_t rows = 0;              // compared
  std::vector<std::string> failures;  // one line per row that differs

  void add(const RowRule& other);
};

/// Compares the first and the last row of a case with a run of that row alone: outputs, and gradients of the inputs
/// that have a row for it, bit by bit. An axis before the last is one of rows where a row alone gives nearly the same
/// numbers: it is not where elements are summed along it. Of a module, the rows are those of x.
RowRule compare_rows(const CheckedName& checked, const CheckCase& one, Dtype dtype);
/// Every case of these.
RowRule compare_rows(const std::vector<CheckedName>& table, Dtype dtype);

}  // namespace retrace

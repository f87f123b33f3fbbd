// The result of a demo: tables of numbers, each with what it should show.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace retrace {

using DemoCell = std::variant<std::string, std::int64_t, double>;

struct DemoTable {
  std::string title;
  std::string see;  // the thing to look for
  std::vector<std::string> columns;
  std::vector<std::vector<DemoCell>> rows;  // a cell for each column
  std::string finding;                      // the result, in numbers
  bool holds = false;                       // whether the result is as expected
};

struct Demo {
  std::string name;
  std::string title;
  std::vector<DemoTable> tables;

  bool holds() const { return std::ranges::all_of(tables, &DemoTable::holds); }
};

}  // namespace retrace

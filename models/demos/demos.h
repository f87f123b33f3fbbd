// Small experiments on attention and relational memories, each with the result that it should show, as tables of
// numbers.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
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

  bool holds() const;
};

/// The names that make_demo knows.
std::span<const std::string_view> demo_names();
/// Runs the demo of that name, in f64 and from the seed 42: the same numbers every time. Throws ValueError, with the
/// nearest right name, for one that is not known.
Demo make_demo(std::string_view name);

/// {demos: [{name, title, tables: [{title, see, rows: [{column: cell}], finding, holds}]}], holds}, with null for
/// numbers that are not finite.
std::string to_json(const std::vector<Demo>& demos);

}  // namespace retrace

// Small experiments on attention and relational memories, each with the result that it should show, as tables of
// numbers.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <retrace/models/demos/demo.h>

namespace retrace {

/// The names that make_demo knows.
std::span<const std::string_view> demo_names();
/// Runs the demo of that name, in f64 and from the seed 42: the same numbers every time. Throws ValueError, with the
/// nearest right name, for one that is not known.
Demo make_demo(std::string_view name);

/// {demos: [{name, title, tables: [{title, see, rows: [{column: cell}], finding, holds}]}], holds}, with null for
/// numbers that are not finite.
std::string to_json(const std::vector<Demo>& demos);

}  // namespace retrace

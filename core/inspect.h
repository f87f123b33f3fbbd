// A tape as something to read: text, a Graphviz drawing, JSON. `std::cout << tape` and `<< record` are declared with
// them. Nodes go by their own name; without one, %3 is the output of record 3 (%3.1 its second), x0, x1, ... are
// leaves.
#pragma once

#include <functional>
#include <string>

#include <retrace/core/tape.h>

namespace retrace {

/// Names the module of a scope; an empty answer leaves the scope's own label. Look at the label too: a module
/// and its first member have the same address.
using ScopeNames = std::function<std::string(const ScopeEntry&)>;

/// The scopes around a record, outermost first: "encoder/mha".
std::string path_of(const Record& record, const ScopeNames& names = {});
/// One line: index, path, outputs <- op inputs, formulas, and "d%3 = (1, 2) -> dw = (3, 4)": what flowed back to the
/// outputs, and what the inputs have got so far. More than four numbers are shortened and their norm is given.
std::string to_text(const Record& record, const ScopeNames& names = {});
/// All records as a table with the same columns, then the leaves with the gradients that are held.
std::string to_text(const Tape& tape, const ScopeNames& names = {});
/// Draws ops as boxes with their formulas as tooltips, leaves as ellipses, and edges with shapes. Render with
/// `dot -Tsvg`.
std::string to_dot(const Tape& tape, const ScopeNames& names = {});
/// A JSON array with one object per record, each on its own line: index, path, op, formulas, inputs and outputs with
/// name, dtype and shape, and the values and gradients that are still held (null for NaN and infinities; a dual is
/// written as its value).
std::string to_json(const Tape& tape, const ScopeNames& names = {});

}  // namespace retrace

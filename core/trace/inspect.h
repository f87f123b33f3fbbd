// A tape as something to read: text, a Graphviz drawing, JSON. `std::cout << tape` and `<< record` are declared with
// them. Parameters and modules go by the names given, to_text(tape, names_of(model)); other nodes by their own name;
// without one, %3 is the output of record 3 (%3.1 its second), x0, x1, ... are leaves.
#pragma once

#include <string>

#include <retrace/core/tape/names.h>
#include <retrace/core/trace/trace.h>

namespace retrace {

/// The scopes around a record, outermost first: "encoder/mha".
std::string path_of(const Record& record, const Names& names = {});
/// One line: index, path, outputs <- op inputs, formulas, and "d%3 = (1, 2) -> dw = (3, 4)": what flowed back to the
/// outputs, and what the inputs have got so far. More than four numbers are shortened and their norm is given.
std::string to_text(const Record& record, const Names& names = {});
/// All records as a table with the same columns, then the leaves with the gradients that are held.
std::string to_text(const Tape& tape, const Names& names = {});
/// Draws ops as boxes in the clusters of their modules, with their formulas as tooltips, leaves as ellipses, and edges
/// with shapes. Values, gradients and their norms are shown where they are held. Steps that repeat each other, as those
/// of an Lstm, share their boxes. Render with `dot -Tsvg`.
std::string to_dot(const Trace& trace);
/// to_dot of the tape as it is now.
std::string to_dot(const Tape& tape, const Names& names = {});
/// A JSON array with one object per record, each on its own line: index, path, op, formulas, inputs and outputs with
/// name, dtype and shape, and the values and gradients that are still held (null for NaN and infinities; a dual is
/// written as its value).
std::string to_json(const Tape& tape, const Names& names = {});

}  // namespace retrace

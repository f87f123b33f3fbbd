// A trace step by step on a terminal: commands in, text out.
#pragma once

#include <iosfwd>

#include <retrace/core/trace/trace.h>
#include <retrace/models/study/terminal/array_text.h>

namespace retrace {

/// Reads commands, one per line, until "q" or the end of the input: next (an empty line, too), back, the number of a
/// record, /word to go to the next step whose scope or op contains it, n and m to show a tensor as numbers or as a heat
/// map, i and g for the inputs and the gradients of the step, a for the notes on the trace, t to turn between a
/// record's forward and backward, h for help. A command that is not known is answered, not obeyed. A step takes no more
/// than style.lines lines with its prompt, if that is not 0.
void step_through(const Trace& trace, std::istream& commands, std::ostream& out, const ArrayStyle& style = {});

}  // namespace retrace

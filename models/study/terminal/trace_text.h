// A trace as text: its steps one by one, first through the forward, then back.
#pragma once

#include <cstdint>
#include <string>

#include <retrace/core/trace/trace.h>
#include <retrace/models/study/terminal/array_text.h>
#include <retrace/models/study/terminal/step_card.h>

namespace retrace {

/// The forward of every record, then the backward of those that were reached, last to first.
std::vector<TraceStep> steps_of(const Trace& trace);

/// "attention: 12 records".
std::string heading_of(const Trace& trace);
/// That line, and the notes on the trace below it.
std::string introduction_of(const Trace& trace, int columns = 80);
/// The elements of this node's gradient (-1: of all) that were checked by three ways, a line each; empty for none.
std::string checks_text(const Trace& trace, int node = -1);
/// Title and notes, every step, the elements that were checked by three ways, and the gradient flow.
std::string to_text(const Trace& trace, const ArrayStyle& style = {});

}  // namespace retrace

// A trace as text: its steps one by one, first through the forward, then back.
#pragma once

#include <cstdint>
#include <string>

#include <retrace/core/trace.h>
#include <retrace/models/study/terminal/array_text.h>

namespace retrace {

/// A step of a trace: one record's forward, or its backward.
struct TraceStep {
  std::size_t record = 0;
  bool backward = false;
};
/// The forward of every record, then the backward of those that were reached, last to first.
std::vector<TraceStep> steps_of(const Trace& trace);

/// "attention: 12 records".
std::string heading_of(const Trace& trace);
/// One line: "  12  encoder/mha  %12[4, 4] <- softmax %11[4, 4]".
std::string heading_of(const Trace& trace, const TraceStep& step);
/// The record with its formula, its inputs and its output; or the gradient that arrived and what was sent to each
/// input.
std::string to_text(const Trace& trace, const TraceStep& step, const ArrayStyle& style = {});
/// The elements of this node's gradient (-1: of all) that were checked by three ways, a line each; empty for none.
std::string checks_text(const Trace& trace, int node = -1);
/// Title, every step, the elements that were checked by three ways, and the gradient flow.
std::string to_text(const Trace& trace, const ArrayStyle& style = {});

}  // namespace retrace

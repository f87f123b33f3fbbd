// A step of a trace in the parts that a terminal shows: as long as it is, or as long as the terminal has lines.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <retrace/core/trace/trace.h>
#include <retrace/models/study/terminal/array_text.h>

namespace retrace {

/// A step of a trace: one record's forward, or its backward.
struct TraceStep {
  std::size_t record = 0;
  bool backward = false;
};

struct StepCard {
  struct Array {
    std::string title;  // "a = x[2, 3]"
    const Capture* capture;
    const std::vector<std::string>* row_names;
    bool is_gradient = false;
  };
  std::string heading;
  std::vector<std::string> lines;  // its formula, its attributes
  std::vector<Array> arrays;
};

/// One line: "12  encoder/mha  %12[4, 4] <- softmax %11[4, 4]".
std::string heading_of(const Trace& trace, const TraceStep& step);
/// The record with its formula, its inputs and its output; or the values that the formula of its backward names, the
/// gradient that arrived and what was sent to each input. Refers to the trace.
StepCard card_of(const Trace& trace, const TraceStep& step);
/// The card in at most style.lines lines of style.columns characters, if style.lines is not 0: long arrays are cut
/// first, and the card says so.
std::string to_text(const StepCard& card, const ArrayStyle& style = {});

/// The names that a formula gives to its results, as many as there are; an empty one where it has too few:
/// "c' = f c + i g, h' = o tanh c'" has c' and h'.
std::vector<std::string> result_names(std::string_view formula, std::size_t count);

}  // namespace retrace

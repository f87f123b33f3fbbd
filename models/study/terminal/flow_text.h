// How gradients flow through time, as text.
#pragma once

#include <string>
#include <vector>

#include <retrace/core/trace/trace.h>
#include <retrace/models/study/terminal/array_text.h>

namespace retrace {

/// Says where the gradient vanishes on its way back: "h vanishes: at step 3 it is below 1/1000 of its largest, 2.1 at
/// step 9"; or how much of it reaches the first step, or where it is exactly 0. Steps count from 0.
std::string sentence_of(const GradientFlow::Norms& norms);
/// Shows all flows: a table of the norms by time step with a sentence for each, then each matrix with one character per
/// element, on a log scale.
std::string to_text(const std::vector<GradientFlow>& flows, const ArrayStyle& style = {});

}  // namespace retrace

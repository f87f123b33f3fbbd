// The output of `retrace train --find-learning-rate`.
#pragma once

#include <retrace/models/cli/commands.h>
#include <retrace/models/training/learning_rate_finder.h>

namespace retrace {

/// Prints the smoothed losses as a plot over the learning rate, and the suggested rate; or, as JSON, all points. A
/// curve without points, of a search that was stopped at once, prints nothing.
void print_learning_rates(const LearningRateCurve& curve, bool as_json, Program& program);

}  // namespace retrace

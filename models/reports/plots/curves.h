// The curves of a training.
#pragma once

#include <span>

#include <retrace/models/reports/plots/plot.h>
#include <retrace/models/training/run.h>

namespace retrace {

/// The loss in training and on the validation samples, by steps.
Plot loss_curves(std::span<const Metrics> history);
/// The metric on the validation samples, by steps, with levels for chance, the trivial answer and, if it is known, the
/// best possible.
Plot metric_curve(std::span<const Metrics> history, const Run& run);

}  // namespace retrace

// The curves of a training.
#pragma once

#include <span>
#include <vector>

#include <retrace/models/reports/plots/plot.h>
#include <retrace/models/training/run.h>

namespace retrace {

/// The loss in training and on the validation samples, by steps.
Plot loss_curves(std::span<const Metrics> history);
/// The metric on the validation samples, by steps, with levels for chance, the trivial answer and, if it is known, the
/// best possible.
Plot metric_curve(std::span<const Metrics> history, const Run& run);

/// The gradient norm before clipping, on a logarithmic axis, with a level where it is clipped.
Plot gradient_norm_curve(std::span<const Metrics> history, double clip);
Plot learning_rate_curve(std::span<const Metrics> history);
/// The gradient norm of each layer, on a logarithmic axis. Without curves, if no step reported them.
Plot layer_gradient_curves(std::span<const Metrics> history);
/// All of these that there is something to draw for.
std::vector<Plot> training_plots(std::span<const Metrics> history, const Run& run);

}  // namespace retrace

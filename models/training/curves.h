// What a training looked like.
#pragma once

#include <span>

#include <retrace/models/plots/plot.h>
#include <retrace/models/tasks/task.h>
#include <retrace/models/training/metrics.h>

namespace retrace {

/// The loss in training and on the validation samples, by steps.
Plot loss_curves(std::span<const Metrics> history);
/// The metric on the validation samples, by steps, beside chance, the trivial answer and the best possible.
Plot metric_curve(std::span<const Metrics> history, const Task& task);

}  // namespace retrace

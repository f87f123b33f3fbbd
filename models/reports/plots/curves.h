// What a training looked like.
#pragma once

#include <span>

#include <retrace/models/reports/plots/plot.h>
#include <retrace/models/tasks/task.h>
#include <retrace/models/training/metrics.h>

namespace retrace {

/// The loss in training and on the validation samples, by steps.
Plot loss_curves(std::span<const Metrics> history);
/// The metric on the validation samples of `task`, by steps, beside the levels given.
Plot metric_curve(std::span<const Metrics> history, std::string_view metric, std::string_view task,
                  std::vector<Level> levels);
/// The same beside chance, the trivial answer and the best possible.
Plot metric_curve(std::span<const Metrics> history, const Task& task);

}  // namespace retrace

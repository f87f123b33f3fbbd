// Optimisers and learning rates by name.
#pragma once

#include <memory>

#include <retrace/models/training/fit_options.h>
#include <retrace/nn/optim/optimizer.h>

namespace retrace {

/// The optimiser that the options name, with their groups; the learning rate of a group is its factor, and 1 for what
/// is in none, so that scale_learning_rates sets them all. Throws ValueError, with the nearest right name, for an
/// optimiser that is not known, for a group that names no weight, and for a weight decay where the optimiser has none.
std::unique_ptr<AnyOptimizer> make_optimizer(const std::vector<NamedTensor>& weights, const FitOptions& options);
/// The learning rate of a step, counted from 0: it rises linearly during the warm-up, then follows the schedule. The
/// options have steps, learning rate and schedule. Throws ValueError, with the nearest right name, for a schedule that
/// is not known.
double learning_rate_at(std::int64_t step, const FitOptions& options);

}  // namespace retrace

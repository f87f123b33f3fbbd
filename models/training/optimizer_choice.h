// Optimisers and learning rates by name.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include <retrace/models/training/fit.h>
#include <retrace/nn/optim/optimizer.h>

namespace retrace {

/// adam, adamw, lion, muon, rmsprop, sgd (with momentum 0.9).
std::span<const std::string_view> optimizer_names();
/// Whether FitOptions::b2 is an option of the optimiser: of adam, adamw and muon.
bool has_b2(std::string_view optimizer);
/// cosine (to 0 at the last step), linear (to 0 at the last step), trapezoid (constant, and linear to 0 in the last
/// fifth of the steps), steps (halved every fifth of them), constant.
std::span<const std::string_view> schedule_names();

/// The optimiser that the options name, with their groups; the learning rate of a group is its factor, and 1 for what
/// is in none, so that scale_learning_rates sets them all. Throws ValueError, with the nearest right name, for an
/// optimiser that is not known, for a group that names no weight, and for a weight decay where the optimiser has none.
std::unique_ptr<AnyOptimizer> make_optimizer(const std::vector<NamedTensor>& weights, const FitOptions& options);
/// The learning rate of a step, counted from 0: it rises linearly during the warm-up, then follows the schedule. The
/// options have steps, learning rate and schedule. Throws ValueError, with the nearest right name, for a schedule that
/// is not known.
double learning_rate_at(std::int64_t step, const FitOptions& options);

}  // namespace retrace

// Which learning rate to train with: the loss under a rate that rises from batch to batch (Smith, "Cyclical learning
// rates for training neural networks", 2017).
#pragma once

#include <cstdint>
#include <vector>

#include <retrace/models/training/training.h>

namespace retrace {

/// The rate rises from lowest to highest by the same factor at each of the steps. The loss is smoothed by an
/// exponential average of the weight `smoothing`, without its bias towards 0. The search ends early where the smoothed
/// loss exceeds `stop_at` times its lowest value, where a loss or a gradient is not finite, and when FitOptions::stop
/// is set.
struct LearningRateSearch {
  double lowest = 1e-6;
  double highest = 1;
  std::int64_t steps = 100;
  double smoothing = 0.9;
  double stop_at = 4;
};

/// The loss of a batch, before the update at this rate.
struct LearningRatePoint {
  double rate = 0;
  double loss = 0;
  double smoothed = 0;
};

/// The losses of a search, in the order of its steps, and the rate that it suggests.
struct LearningRateCurve {
  std::vector<LearningRatePoint> points;
  /// A tenth of the rate at which the loss was lowest, so that it still falls fast: of the rate smoothing / (1 -
  /// smoothing) steps before the smoothed loss was lowest, because the average is late by as much.
  double suggested = 0;
};

/// Makes the steps of a search with the training's batches, loss and optimiser, without its schedule. The weights are
/// put back afterwards, whatever is thrown; the training itself has moved on, so make another one to train. Throws
/// ValueError for a search whose rates do not rise or that has fewer than 2 steps, and DivergenceError if the first
/// loss is not finite.
LearningRateCurve find_learning_rate(Training& training, const LearningRateSearch& search = {});

/// The same for a model and a task, with the options of fit.
LearningRateCurve find_learning_rate(const SequenceModel& model, const Task& task, const FitOptions& options = {},
                                     const LearningRateSearch& search = {});

}  // namespace retrace

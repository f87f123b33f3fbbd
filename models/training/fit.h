// Trains a model on a task.
#pragma once

#include <iosfwd>
#include <vector>

#include <retrace/models/training/evaluate.h>
#include <retrace/models/training/progress.h>

namespace retrace {

struct FitOptions {
  std::uint64_t seed = 0;
  std::int64_t steps = 1000;
  std::int64_t batch = 64;
  double learning_rate = 3e-3;  // at its highest
  double b2 = 0.98;             // of Adam: a short memory of squares gets off a plateau sooner than 0.999
  double warm_up = 0.05;        // the part of the steps in which the rate rises from 0; then it falls along a cosine
  double clip = 1;              // the most that the norm of all gradients may be
  std::int64_t validate_every = 100;
  std::int64_t validation_samples = 1024;
  std::int64_t test_samples = 10000;
  std::int64_t patience = 0;        // stop after so many validations without a lower loss; 0: never
  std::ostream* metrics = nullptr;  // a JSON line for every validation
  ProgressOptions progress = {};
};

struct FitResult {
  std::int64_t steps = 0;      // made
  std::int64_t best_step = 0;  // after which the parameters were best: those that the model has now
  double seconds = 0;
  Evaluation validation;       // of the best parameters, on the validation samples
  Evaluation test;             // of the best parameters, on fresh samples
  std::vector<double> losses;  // of every step
};

/// Adam on batches drawn on the fly, with clipped gradients. Every `validate_every` steps, and at the end, the loss on a
/// fixed set of samples is measured; the parameters of the lowest one are put back at the end and tested.
///
/// Batches, validation samples and test samples come from streams of their own of the seed, a batch from the seed and the
/// step alone: the same seed gives the same losses bit for bit, on any number of threads. The batches have the dtype of
/// the model. Throws ValueError for options without meaning and for a loss that is not finite.
FitResult fit(SequenceModel& model, const Task& task, const FitOptions& options = {});

}  // namespace retrace

// A mean over answers with its confidence interval.
#pragma once

#include <cstdint>

#include <retrace/models/tasks/task.h>

namespace retrace {

/// A mean and its 95 % interval.
struct Estimate {
  double value = 0;
  double low = 0, high = 0;
  std::int64_t answers = 0;
  std::int64_t samples = 0;  // from which the answers come
};

/// Takes in the score of every answer, sample by sample. Answers of one sample are not independent of each other, so
/// the interval is computed from the sums per sample (the ratio estimator of cluster sampling).
class Scores {
 public:
  /// Adds a sample by the sum of the scores of its answers and their number; ignores one without answers.
  void add_sample(double sum, std::int64_t answers);
  /// accuracy: Wilson's interval, for the number of independent answers that has the same variance. mse: the normal
  /// interval, not below 0; unbounded for a single sample.
  Estimate estimate(TaskKind kind) const;

 private:
  double variance_of_mean(double mean) const;

  std::int64_t samples_ = 0, answers_ = 0;
  double sum_ = 0;
  double squares_ = 0, products_ = 0, counts_squared_ = 0;  // sums of sum^2, sum * answers, answers^2 over samples
};

}  // namespace retrace

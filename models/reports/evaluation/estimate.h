// A mean over answers and how far it can be trusted.
#pragma once

#include <cstdint>

#include <retrace/models/tasks/task.h>

namespace retrace {

/// A mean and its 95 % interval.
struct Estimate {
  double value = 0;
  double low = 0, high = 0;
  std::int64_t answers = 0;
  std::int64_t samples = 0;  // that the answers are of
};

/// Takes in the score of every answer, sample by sample. Answers of one sample are not independent of each other, so
/// the interval is made of the samples' sums (the ratio estimator of cluster sampling).
class Scores {
 public:
  /// What a sample's answers have together: the sum of their scores, and how many they are. Nothing for none.
  void add_sample(double sum, std::int64_t answers);
  /// accuracy: Wilson's interval, for as many independent answers as have the variance of these. mse: the normal
  /// interval, not below 0; without an end for a single sample.
  Estimate estimate(TaskKind kind) const;

 private:
  double variance_of_mean(double mean) const;

  std::int64_t samples_ = 0, answers_ = 0;
  double sum_ = 0;
  double squares_ = 0, products_ = 0, counts_squared_ = 0;  // sums of sum^2, sum * answers, answers^2 over samples
};

}  // namespace retrace

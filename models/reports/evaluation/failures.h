// Samples that a model answered wrongly, for people to read.
#pragma once

#include <string>
#include <vector>

#include <retrace/models/reports/evaluation/prediction.h>

namespace retrace {

struct Failure {
  std::int64_t sample = 0;  // its number among all
  std::string input;        // in the task's words, with lines
  std::string expected, given;
  // Of a classification: how likely the model held both to be. Of a regression: nothing, and the mean squared error.
  double probability_of_expected = 0, probability_of_given = 0;
  double error = 0;
};

/// Keeps the worst failures: of labels, those that the model was surest of; of numbers, the largest errors.
class FailureList {
 public:
  FailureList(const Task& task, std::int64_t most) : task_(task), most_(most) {}
  void add(const Prediction& sample);
  /// The worst first.
  const std::vector<Failure>& worst() const { return worst_; }
  /// How many samples had a wrong label; of numbers, any error.
  std::int64_t count() const { return count_; }

 private:
  const Task& task_;
  std::int64_t most_;
  std::int64_t seen_ = 0, count_ = 0;
  std::vector<Failure> worst_;
};

}  // namespace retrace

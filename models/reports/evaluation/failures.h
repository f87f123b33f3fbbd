// Samples that a model answered wrongly, in words.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <retrace/models/reports/evaluation/prediction.h>

namespace retrace {

struct Failure {
  std::int64_t sample = 0;  // its number among all samples
  std::string place = {};   // in the data of a user: "line 12"
  std::string input;        // in the task's words, with lines
  std::string expected, given;
  // For a classification, the probabilities that the model gave to both. For a regression, 0 and the mean squared
  // error.
  double probability_of_expected = 0, probability_of_given = 0;
  double error = 0;
};

/// Keeps the worst failures: for labels, those with the highest probability; for numbers, the largest errors.
class FailureList {
 public:
  /// `places` are those of the samples in the user's data; empty for a task that made them.
  FailureList(const Task& task, std::int64_t limit, std::vector<std::string> places = {})
      : task_(task), limit_(limit), places_(std::move(places)) {}
  void add(const Prediction& sample);
  /// The worst first.
  const std::vector<Failure>& worst() const { return worst_; }
  /// The number of samples with a wrong label; for numbers, with any error.
  std::int64_t count() const { return count_; }

 private:
  const Task& task_;
  std::int64_t limit_;
  std::vector<std::string> places_;
  std::int64_t seen_ = 0, count_ = 0;
  std::vector<Failure> worst_;
};

}  // namespace retrace

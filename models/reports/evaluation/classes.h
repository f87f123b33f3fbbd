// The answers of a classifier, class by class: its confusion matrix.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <retrace/models/reports/evaluation/estimate.h>
#include <retrace/models/reports/evaluation/prediction.h>

namespace retrace {

/// The answers where one class is right.
struct ClassRow {
  std::int64_t label = 0;
  Estimate accuracy = {};                              // the share of right ones
  std::map<std::int64_t, std::int64_t> answered = {};  // how often each label was given

  std::int64_t times(std::int64_t given) const {
    const auto found = answered.find(given);
    return found == answered.end() ? 0 : found->second;
  }
};

/// All classes that are right somewhere, by label, and the names of all that are right or answered.
struct ClassTable {
  std::vector<ClassRow> rows = {};
  std::map<std::int64_t, std::string> names = {};
};

/// Counts the answers of samples.
class ClassCounter {
 public:
  explicit ClassCounter(const Task& task) : task_(task) {}
  void add(const Prediction& sample);
  ClassTable table() const;

 private:
  struct OfClass {
    Scores scores = {};
    std::map<std::int64_t, std::int64_t> answered = {};
  };
  const Task& task_;
  std::map<std::int64_t, OfClass> classes_;
};

}  // namespace retrace

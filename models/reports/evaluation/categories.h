// The metric per category of samples.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <retrace/models/reports/evaluation/estimate.h>
#include <retrace/models/reports/evaluation/prediction.h>

namespace retrace {

struct CategoryRow {
  std::string value;  // in words if the task has any
  Estimate metric;
};

/// The values that a category of the task has among the samples, in ascending order.
struct CategoryTable {
  std::string name;
  std::vector<CategoryRow> rows;
};

/// Sorts answered samples by the categories of their task.
class CategoryCounter {
 public:
  explicit CategoryCounter(const Task& task) : task_(task) {}
  void add(const Prediction& sample);
  /// In the order in which the task named the categories.
  std::vector<CategoryTable> tables() const;

 private:
  struct Kind {
    std::string words;
    Scores scores;
  };
  struct Way {
    std::string name;
    std::map<std::int64_t, Kind> kinds;
  };
  Kind& kind_of(const Category& category);

  const Task& task_;
  std::vector<Way> ways_;
};

}  // namespace retrace

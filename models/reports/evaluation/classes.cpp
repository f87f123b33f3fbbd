#include <retrace/models/reports/evaluation/classes.h>

#include <utility>

namespace retrace {

void ClassCounter::add(const Prediction& sample) {
  std::map<std::int64_t, std::pair<double, std::int64_t>>
      sums;  // the scores of this sample's answers, and their number
  for (std::int64_t answer = 0; answer < sample.example.answers(); ++answer) {
    if (!sample.counts(answer)) continue;
    const std::int64_t label = sample.example.label(answer);
    auto& [score, count] = sums[label];
    score += sample.score(answer), ++count;
    ++classes_[label].answered[sample.given[static_cast<std::size_t>(answer)]];
  }
  for (const auto& [label, sum] : sums) classes_[label].scores.add_sample(sum.first, sum.second);
}

ClassTable ClassCounter::table() const {
  ClassTable table;
  for (const auto& [label, of_class] : classes_) {
    table.rows.push_back({label, of_class.scores.estimate(TaskKind::classification), of_class.answered});
    table.names[label] = task_.describe_label(label);
    for (const auto& [given, count] : of_class.answered) table.names[given] = task_.describe_label(given);
  }
  return table;
}

}  // namespace retrace

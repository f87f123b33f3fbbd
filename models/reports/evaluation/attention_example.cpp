#include <retrace/models/reports/evaluation/attention_example.h>

#include <algorithm>
#include <deque>
#include <map>

namespace retrace {

std::vector<std::int64_t> choose_examples(const Task& task, const std::vector<Prediction>& samples,
                                          std::int64_t count) {
  std::map<std::int64_t, std::deque<std::int64_t>> by_row;  // the samples without a row to remember come last
  for (std::int64_t sample = 0; sample < std::ssize(samples); ++sample)
    by_row[task.row_to_remember(samples[static_cast<std::size_t>(sample)].example).value_or(task.sequence_length())]
        .push_back(sample);
  std::vector<std::int64_t> places;
  for (const auto& [row, of_row] : by_row)
    if (row < task.sequence_length()) places.push_back(row);
  if (places.size() > 2) {  // last, first, middle, the others
    std::rotate(places.begin(), places.end() - 1, places.end());
    const auto middle = places.begin() + (std::ssize(places) + 1) / 2;
    std::rotate(places.begin() + 2, middle, middle + 1);
  } else {
    std::ranges::reverse(places);
  }
  if (by_row.contains(task.sequence_length())) places.push_back(task.sequence_length());
  std::vector<std::int64_t> chosen;
  while (std::ssize(chosen) < std::min(count, std::ssize(samples))) {
    for (const std::int64_t place : places) {
      std::deque<std::int64_t>& left = by_row[place];
      if (left.empty() || std::ssize(chosen) == count) continue;
      chosen.push_back(left.front());
      left.pop_front();
    }
  }
  return chosen;
}

AttentionExample attention_example(const Task& task, const Prediction& answered, const MemoryTrace& trace,
                                   std::int64_t sample) {
  const NoTape unrecorded;
  AttentionExample result{in_words(task, answered), task.row_to_remember(answered.example), trace.attends_to_input(),
                          trace.slots(), trace.weights.front().dim(3)};
  for (std::int64_t t = 0; t < trace.steps(); ++t) {
    const Tensor weights = mean(trace.weights[static_cast<std::size_t>(t)][sample].to(f64), 0);
    const auto values = weights.values<double>();
    result.weights.emplace_back(values.begin(), values.end());
  }
  return result;
}

}  // namespace retrace

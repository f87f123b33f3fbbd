#include <retrace/models/reports/evaluation/failures.h>

#include <algorithm>

namespace retrace {
namespace {

double badness(const Failure& failure) { return std::max(failure.probability_of_given, failure.error); }

}  // namespace

void FailureList::add(const Prediction& sample) {
  const std::int64_t number = seen_++;
  if (!sample.failed()) return;
  ++count_;
  Failure failure;
  failure.sample = number;
  if (sample.kind == TaskKind::regression) {
    failure.error = sample.total() / static_cast<double>(sample.counted());
  } else {
    failure.probability_of_expected = sample.probability_of_expected();
    failure.probability_of_given = sample.probability_of_given();
  }
  const auto place = std::ranges::upper_bound(worst_, badness(failure), std::greater(), badness);
  if (place - worst_.begin() >= limit_) return;
  if (!places_.empty()) failure.place = places_[static_cast<std::size_t>(number)];
  failure.input = task_.describe(sample.example);
  failure.expected = sample.expected_words(task_);
  failure.given = sample.given_words(task_);
  worst_.insert(place, std::move(failure));
  if (std::ssize(worst_) > limit_) worst_.pop_back();
}

}  // namespace retrace

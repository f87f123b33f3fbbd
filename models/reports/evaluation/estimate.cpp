#include <retrace/models/reports/evaluation/estimate.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace retrace {
namespace {

constexpr double z = 1.959964;  // the normal distribution's 97.5 %

/// Wilson's interval (1927) for a fraction `share` of `count`.
Estimate wilson(double share, double count) {
  const double scale = 1 + z * z / count;
  const double center = (share + z * z / (2 * count)) / scale;
  const double half = z / scale * std::sqrt(share * (1 - share) / count + z * z / (4 * count * count));
  return {.value = share, .low = std::clamp(center - half, 0.0, share), .high = std::clamp(center + half, share, 1.0)};
}

}  // namespace

void Scores::add_sample(double sum, std::int64_t answers) {
  if (answers == 0) return;
  const auto count = static_cast<double>(answers);
  ++samples_;
  answers_ += answers;
  sum_ += sum;
  squares_ += sum * sum;
  products_ += sum * count;
  counts_squared_ += count * count;
}

double Scores::variance_of_mean(double mean) const {
  const auto samples = static_cast<double>(samples_), answers = static_cast<double>(answers_);
  const double deviations = std::max(0.0, squares_ - 2 * mean * products_ + mean * mean * counts_squared_);
  return deviations * samples / (samples - 1) / (answers * answers);
}

Estimate Scores::estimate(TaskKind kind) const {
  const double mean = sum_ / static_cast<double>(answers_);
  Estimate result{.value = mean, .low = mean, .high = mean};
  if (kind == TaskKind::classification) {
    double independent = static_cast<double>(samples_);
    const double variance = samples_ > 1 && answers_ > samples_ ? variance_of_mean(mean) : 0;
    if (variance > 0) independent = std::min(static_cast<double>(answers_), mean * (1 - mean) / variance);
    result = wilson(mean, independent);
  } else {
    const double half = samples_ > 1 ? z * std::sqrt(variance_of_mean(mean)) : std::numeric_limits<double>::infinity();
    result.low = std::max(0.0, mean - half);
    result.high = mean + half;
  }
  result.answers = answers_;
  result.samples = samples_;
  return result;
}

}  // namespace retrace

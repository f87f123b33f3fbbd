#include <retrace/models/data/split.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <span>

namespace retrace {
namespace {

using Positions = std::vector<std::int64_t>;

Tensor as_tensor(std::span<const std::int64_t> positions) {
  return indices(positions, {static_cast<std::int64_t>(positions.size())});
}

void check_part(const char* function, double test_part) {
  if (!(test_part >= 0 && test_part <= 1))
    throw ValueError(text(function, ": test_part is ", test_part, "; it is a fraction of the samples, from 0 to 1"));
}

/// part * count. 0.29 * 100 is 28.999999999999996: a product that close to an integer is that integer.
double share(double part, std::size_t count) { return static_cast<double>(count) * part * (1 + 1e-15); }

/// The samples of each label in random order, the labels from the smallest to the largest.
std::vector<Positions> samples_of_labels(const char* function, const Tensor& labels, Random& random) {
  if (labels.dtype() != i64)
    throw DtypeError(text(function, ": labels", labels.shape(), " is ", labels.dtype(), "; convert it with to(i64)"));
  if (labels.rank() != 1)
    throw ShapeError(text(function, ": labels", labels.shape(), " must be [samples]; reshape it"));
  const auto values = labels.values<std::int64_t>();
  std::map<std::int64_t, Positions> samples;
  for (const std::int64_t position : random.permutation(labels.dim(0)))
    samples[values[static_cast<std::size_t>(position)]].push_back(position);
  std::vector<Positions> result;
  for (auto& [label, positions] : samples) result.push_back(std::move(positions));
  return result;
}

/// How many samples of each label are tested: the shares rounded down, and one more where the largest fractions are,
/// until there are `total`.
std::vector<std::size_t> test_counts(const std::vector<Positions>& samples, double test_part, std::size_t total) {
  std::vector<std::size_t> counts, order;
  std::vector<double> fractions;
  for (const Positions& positions : samples) {
    const double wanted = share(test_part, positions.size());
    order.push_back(counts.size());
    counts.push_back(std::min(static_cast<std::size_t>(wanted), positions.size()));
    fractions.push_back(wanted - std::floor(wanted));
    total -= std::min(total, counts.back());
  }
  std::ranges::stable_sort(order, std::greater(), [&](std::size_t label) { return fractions[label]; });
  for (const std::size_t label : order) {
    if (total == 0) break;
    if (counts[label] == samples[label].size()) continue;
    ++counts[label], --total;
  }
  return counts;
}

/// Fold k tests the samples at k, k + folds, ... of `order`; all are in random order again.
std::vector<Split> dealt(const char* function, const Positions& order, std::int64_t folds, Random& random) {
  const auto samples = static_cast<std::int64_t>(order.size());
  if (folds < 2 || folds > samples)
    throw ValueError(text(function, ": ", folds, " folds of ", samples, " samples; give 2 folds or more, and a sample ",
                          "for each"));
  const Positions shuffled = random.permutation(samples);
  std::vector<Split> result;
  for (std::int64_t fold = 0; fold < folds; ++fold) {
    Positions train, test;
    for (const std::int64_t at : shuffled)
      (at % folds == fold ? test : train).push_back(order[static_cast<std::size_t>(at)]);
    result.push_back({.train = as_tensor(train), .test = as_tensor(test)});
  }
  return result;
}

}  // namespace

Split split(std::int64_t samples, double test_part, Random& random) {
  if (samples < 0) throw ValueError(text("split: there are ", samples, " samples; give 0 or more"));
  check_part("split", test_part);
  const Positions order = random.permutation(samples);
  const std::span<const std::int64_t> shuffled(order);
  const auto first = shuffled.first(std::min(static_cast<std::size_t>(share(test_part, order.size())), order.size()));
  return {.train = as_tensor(shuffled.subspan(first.size())), .test = as_tensor(first)};
}

Split stratified_split(const Tensor& labels, double test_part, Random& random) {
  check_part("stratified_split", test_part);
  const std::vector<Positions> samples = samples_of_labels("stratified_split", labels, random);
  const auto count = static_cast<std::size_t>(labels.dim(0));
  const std::vector<std::size_t> tested =
      test_counts(samples, test_part, static_cast<std::size_t>(share(test_part, count)));
  std::vector<bool> is_test(count);
  for (std::size_t label = 0; label < samples.size(); ++label)
    for (std::size_t i = 0; i < tested[label]; ++i) is_test[static_cast<std::size_t>(samples[label][i])] = true;
  Positions train, test;
  for (const std::int64_t position : random.permutation(labels.dim(0)))
    (is_test[static_cast<std::size_t>(position)] ? test : train).push_back(position);
  return {.train = as_tensor(train), .test = as_tensor(test)};
}

std::vector<Split> k_fold(std::int64_t samples, std::int64_t folds, Random& random) {
  if (samples < 0) throw ValueError(text("k_fold: there are ", samples, " samples; give 0 or more"));
  return dealt("k_fold", random.permutation(samples), folds, random);
}

std::vector<Split> stratified_k_fold(const Tensor& labels, std::int64_t folds, Random& random) {
  Positions order;  // samples of one label follow each other, so that they are dealt to all folds in turn
  for (const Positions& positions : samples_of_labels("stratified_k_fold", labels, random))
    order.insert(order.end(), positions.begin(), positions.end());
  return dealt("stratified_k_fold", order, folds, random);
}

}  // namespace retrace

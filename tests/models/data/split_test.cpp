#include <gtest/gtest.h>
#include <retrace/models/data/batches.h>
#include <retrace/models/data/split.h>
#include <retrace/ops/ops.h>
#include <retrace/tests/compare.h>

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <utility>
#include <vector>

namespace retrace {
namespace {

/// Whether the lists hold each of 0 .. count - 1 once.
bool cover(const std::vector<std::vector<std::int64_t>>& lists, std::int64_t count) {
  std::multiset<std::int64_t> seen;
  for (const auto& list : lists) seen.insert(list.begin(), list.end());
  std::vector<std::int64_t> wanted(static_cast<std::size_t>(count));
  for (std::size_t k = 0; k < wanted.size(); ++k) wanted[k] = static_cast<std::int64_t>(k);
  return std::ranges::equal(seen, wanted);
}

TEST(Split, EverySampleIsInOnePart) {
  Random random(4);
  for (const std::int64_t samples : {0, 1, 2, 7, 100})
    for (const double part : {0.0, 0.2, 0.5, 1.0}) {
      const Split parts = split(samples, part, random);
      EXPECT_EQ(parts.test.numel(), static_cast<std::int64_t>(part * static_cast<double>(samples)));
      EXPECT_TRUE(cover({values_of<std::int64_t>(parts.train), values_of<std::int64_t>(parts.test)}, samples))
          << samples << " " << part;
    }
}

TEST(Split, APartThatIsAWholeNumberOfSamplesLosesNoneToRounding) {
  Random random;
  EXPECT_EQ(split(100, 0.29, random).test.numel(), 29) << "0.29 * 100 is a little less in f64";
  EXPECT_EQ(split(100, 0.57, random).test.numel(), 57);
  EXPECT_EQ(split(10, 0.29, random).test.numel(), 2);
}

TEST(Split, TheOrderComesFromTheGeneratorAlone) {
  Random one(4), same(4), other(5);
  const Split first = split(50, 0.2, one);
  EXPECT_EQ(values_of<std::int64_t>(first.test), values_of<std::int64_t>(split(50, 0.2, same).test));
  EXPECT_NE(values_of<std::int64_t>(first.test), values_of<std::int64_t>(split(50, 0.2, other).test));
  EXPECT_NE(values_of<std::int64_t>(first.test), values_of<std::int64_t>(split(50, 0.2, one).test))
      << "the generator has moved on";
}

TEST(Split, NumbersWithoutMeaningAreRefused) {
  Random random;
  EXPECT_THROW(split(-1, 0.2, random), ValueError);
  EXPECT_THROW(split(5, -0.1, random), ValueError);
  EXPECT_THROW(split(5, 1.1, random), ValueError);
  EXPECT_THROW(split(5, std::numeric_limits<double>::quiet_NaN(), random), ValueError);
}

std::vector<std::vector<std::int64_t>> lists(const Batches& batches, std::int64_t epoch) {
  std::vector<std::vector<std::int64_t>> result;
  for (const Tensor& rows : batches.epoch(epoch)) result.push_back(values_of<std::int64_t>(rows));
  return result;
}

TEST(Batches, EverySampleComesOnceAnEpochAndTheLastBatchIsKept) {
  for (const auto& [samples, size, count, last] : std::vector<std::array<std::int64_t, 4>>{
           {10, 4, 3, 2}, {8, 4, 2, 4}, {1, 4, 1, 1}, {3, 100, 1, 3}, {5, 1, 5, 1}}) {
    const Batches batches(samples, size, Random(2));
    const auto epoch = lists(batches, 0);
    EXPECT_EQ(batches.size(), count);
    ASSERT_EQ(static_cast<std::int64_t>(epoch.size()), count);
    for (std::size_t k = 0; k + 1 < epoch.size(); ++k) EXPECT_EQ(static_cast<std::int64_t>(epoch[k].size()), size);
    EXPECT_EQ(static_cast<std::int64_t>(epoch.back().size()), last);
    EXPECT_TRUE(cover(epoch, samples)) << samples << " by " << size;
  }
}

TEST(Batches, NoSamplesGiveNoBatch) {
  EXPECT_EQ(Batches(0, 4, Random(2)).size(), 0);
  EXPECT_TRUE(Batches(0, 4, Random(2)).epoch(0).empty());
}

TEST(Batches, AnEpochDependsOnTheGeneratorAndItsNumberAlone) {
  const Batches batches(20, 6, Random(2));
  const auto third = lists(batches, 3);
  EXPECT_NE(third, lists(batches, 0));
  EXPECT_EQ(third, lists(batches, 3));
  EXPECT_EQ(third, lists(Batches(20, 6, Random(2)), 3));
  EXPECT_NE(third, lists(Batches(20, 6, Random(1)), 3));
}

TEST(Batches, WithoutAGeneratorTheOrderStays) {
  const std::vector<std::vector<std::int64_t>> wanted{{0, 1}, {2, 3}, {4}};
  EXPECT_EQ(lists(Batches(5, 2), 0), wanted);
  EXPECT_EQ(lists(Batches(5, 2), 1), wanted);
}

TEST(Batches, NumbersWithoutMeaningAreRefused) {
  EXPECT_THROW(Batches(-1, 2), ValueError);
  EXPECT_THROW(Batches(3, 0), ValueError);
  EXPECT_THROW(Batches(3, -2, Random(1)), ValueError);
}

/// How often each label occurs at the positions.
std::map<std::int64_t, int> counts(const Tensor& labels, const Tensor& positions) {
  std::map<std::int64_t, int> result;
  for (const std::int64_t position : values_of<std::int64_t>(positions))
    ++result[values_of<std::int64_t>(labels)[static_cast<std::size_t>(position)]];
  return result;
}

/// 40 of label 7, 8 of -2, 3 of 0 and one of 5, mixed.
Tensor mixed_labels() {
  std::vector<std::int64_t> labels(40, 7);
  for (const auto& [label, count] : {std::pair<std::int64_t, int>{-2, 8}, {0, 3}, {5, 1}})
    for (int i = 0; i < count; ++i) labels.insert(labels.begin() + 5 * i % 37, label);
  return indices(std::span<const std::int64_t>(labels), {52});
}

TEST(StratifiedSplit, EachLabelHasItsShare) {
  const Tensor labels = mixed_labels();
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Random random(seed);
    const Split parts = stratified_split(labels, 0.25, random);
    EXPECT_TRUE(cover({values_of<std::int64_t>(parts.train), values_of<std::int64_t>(parts.test)}, 52));
    EXPECT_EQ(counts(labels, parts.test), (std::map<std::int64_t, int>{{7, 10}, {-2, 2}, {0, 1}}))
        << "0.75 is rounded up before 0.25";
  }
}

TEST(StratifiedSplit, TestsAsManyAsSplitDoesAndDependsOnTheGenerator) {
  const Tensor labels = mixed_labels();
  for (const double part : {0.0, 0.01, 0.3, 0.5, 0.99, 1.0}) {
    Random one(1), two(1), other(2);
    const Split parts = stratified_split(labels, part, one);
    EXPECT_EQ(parts.test.numel(), split(52, part, two).test.numel());
    if (part == 0.5) {
      Random again(1);
      EXPECT_EQ(values_of<std::int64_t>(stratified_split(labels, part, again).test),
                values_of<std::int64_t>(parts.test));
      EXPECT_NE(values_of<std::int64_t>(stratified_split(labels, part, other).test),
                values_of<std::int64_t>(parts.test));
    }
  }
  Random random;
  EXPECT_THROW(stratified_split(labels, 1.5, random), ValueError);
  EXPECT_THROW(stratified_split(labels.to(f64), 0.5, random), DtypeError);
  EXPECT_THROW(stratified_split(reshape(labels, {26, 2}), 0.5, random), ShapeError);
}

TEST(KFold, EachSampleIsTestedOnce) {
  Random random(3);
  for (const std::int64_t folds : {2, 3, 5, 17}) {
    std::vector<std::vector<std::int64_t>> tests;
    for (const Split& fold : k_fold(17, folds, random)) {
      EXPECT_TRUE(cover({values_of<std::int64_t>(fold.train), values_of<std::int64_t>(fold.test)}, 17));
      EXPECT_TRUE(fold.test.numel() == 17 / folds || fold.test.numel() == (17 + folds - 1) / folds);
      tests.push_back(values_of<std::int64_t>(fold.test));
    }
    EXPECT_EQ(tests.size(), static_cast<std::size_t>(folds));
    EXPECT_TRUE(cover(tests, 17));
  }
  EXPECT_THROW(k_fold(10, 1, random), ValueError);
  EXPECT_THROW(k_fold(3, 4, random), ValueError);
  EXPECT_THROW(k_fold(-1, 2, random), ValueError);
}

TEST(KFold, IsInRandomOrder) {
  Random random(3);
  const std::vector<Split> folds = k_fold(60, 3, random);
  for (const Split& fold : folds) {
    EXPECT_FALSE(std::ranges::is_sorted(values_of<std::int64_t>(fold.train)));
    EXPECT_FALSE(std::ranges::is_sorted(values_of<std::int64_t>(fold.test)));
  }
}

TEST(StratifiedKFold, EachTestHasItsShareOfEachLabel) {
  const Tensor labels = mixed_labels();
  Random random(3);
  std::vector<std::vector<std::int64_t>> tests;
  for (const Split& fold : stratified_k_fold(labels, 4, random)) {
    EXPECT_TRUE(cover({values_of<std::int64_t>(fold.train), values_of<std::int64_t>(fold.test)}, 52));
    EXPECT_EQ(fold.test.numel(), 13);
    auto count = counts(labels, fold.test);
    EXPECT_EQ(count[7], 10);
    EXPECT_EQ(count[-2], 2);
    EXPECT_EQ(count[0] + count[5], 1);
    tests.push_back(values_of<std::int64_t>(fold.test));
  }
  EXPECT_TRUE(cover(tests, 52));
}

}  // namespace
}  // namespace retrace

#include <gtest/gtest.h>
#include <retrace/models/data/batches.h>
#include <retrace/models/data/split.h>

#include <algorithm>
#include <set>
#include <vector>

namespace retrace {
namespace {

std::vector<std::int64_t> numbers(const Tensor& positions) {
  const auto values = positions.values<std::int64_t>();
  return {values.begin(), values.end()};
}

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
      EXPECT_TRUE(cover({numbers(parts.train), numbers(parts.test)}, samples)) << samples << " " << part;
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
  EXPECT_EQ(numbers(first.test), numbers(split(50, 0.2, same).test));
  EXPECT_NE(numbers(first.test), numbers(split(50, 0.2, other).test));
  EXPECT_NE(numbers(first.test), numbers(split(50, 0.2, one).test)) << "the generator has moved on";
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
  for (const Tensor& rows : batches.epoch(epoch)) result.push_back(numbers(rows));
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

}  // namespace
}  // namespace retrace

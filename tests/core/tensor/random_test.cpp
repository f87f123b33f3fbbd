// Random numbers: the published bits of the generator, streams, and the distributions.
#include <retrace/core/tensor/random.h>

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <retrace/tests/ops/gradient_support.h>

namespace retrace {
namespace {

using Words = std::array<std::uint32_t, 4>;

std::uint32_t high_word(std::uint64_t a, std::uint32_t b) { return static_cast<std::uint32_t>((a * b) >> 32); }

// Philox 4x32-10 word for word as in the paper.
Words philox(Words c, std::uint32_t k0, std::uint32_t k1) {
  constexpr std::uint32_t m0 = 0xD2511F53, m1 = 0xCD9E8D57;
  for (int round = 0; round < 10; ++round, k0 += 0x9E3779B9, k1 += 0xBB67AE85)
    c = {high_word(m1, c[2]) ^ c[1] ^ k0, m1 * c[2], high_word(m0, c[0]) ^ c[3] ^ k1, m0 * c[0]};
  return c;
}

std::vector<std::uint32_t> draws(Random random, int count) {
  std::vector<std::uint32_t> result;
  for (int k = 0; k < count; ++k) result.push_back(random.bits());
  return result;
}

/// The test vectors that the authors publish (Random123, kat_vectors).
TEST(Random, TheReferenceGivesThePublishedNumbers) {
  EXPECT_EQ(philox({0, 0, 0, 0}, 0, 0), (Words{0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8}));
  constexpr std::uint32_t all = 0xFFFFFFFF;
  EXPECT_EQ(philox({all, all, all, all}, all, all), (Words{0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD}));
  EXPECT_EQ(philox({0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344}, 0xA4093822, 0x299F31D0),
            (Words{0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1}));
}

TEST(Random, BitsAreThoseOfPhilox) {
  EXPECT_EQ(draws(Random(0), 4), (std::vector<std::uint32_t>{0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8}));
  Random random({.key = 0x299F31D0A4093822, .stream = 0x0370734413198A2E, .drawn = 4 * 0x05A308D3243F6A88});
  for (std::uint32_t block = 0; block < 3; ++block) {
    const Words want = philox({0x243F6A88 + block, 0x05A308D3, 0x13198A2E, 0x03707344}, 0xA4093822, 0x299F31D0);
    for (const std::uint32_t word : want) EXPECT_EQ(random.bits(), word) << block;
  }
}

TEST(Random, TheSameSeedGivesTheSameBitsOnEveryThread) {
  const std::vector<std::uint32_t> want = draws(Random(42), 1000);
  EXPECT_EQ(draws(Random(42), 1000), want);
  EXPECT_NE(draws(Random(43), 1000), want);
  std::array<std::vector<std::uint32_t>, 3> got;
  std::vector<std::thread> workers;
  for (auto& each : got) workers.emplace_back([&each] { each = draws(Random(42), 1000); });
  for (std::thread& worker : workers) worker.join();
  for (const auto& each : got) EXPECT_EQ(each, want);
}

TEST(Random, GoesOnFromItsState) {
  for (int drawn = 0; drawn < 9; ++drawn) {
    Random random = Random(5).stream("weights");
    for (int k = 0; k < drawn; ++k) random.bits();
    EXPECT_EQ(random.state().drawn, static_cast<std::uint64_t>(drawn));
    EXPECT_EQ(draws(Random(random.state()), 8), draws(random, 8)) << drawn;
  }
}

TEST(Random, StreamsDifferAndDoNotDependOnWhatWasDrawn) {
  Random random(9);
  const std::vector<std::uint32_t> weights = draws(random.stream("weights"), 8);
  const std::vector<std::uint32_t> batches = draws(random.stream("batches"), 8);
  for (int k = 0; k < 5; ++k) random.normal();
  EXPECT_EQ(draws(random.stream("batches"), 8), batches);
  EXPECT_EQ(draws(random.stream("weights"), 8), weights);
  std::set<std::vector<std::uint32_t>> all{draws(Random(9), 8), weights, batches};
  for (std::uint64_t number = 0; number < 1000; ++number) all.insert(draws(random.stream(number), 8));
  all.insert(draws(random.stream("weights").stream("batches"), 8));
  all.insert(draws(random.stream("batches").stream("weights"), 8));
  all.insert(draws(random.stream(""), 8));
  all.insert(draws(Random(10).stream("weights"), 8));
  EXPECT_EQ(all.size(), 3u + 1000 + 4);
}

/// n standard deviations of a mean of `count` draws with that variance.
double deviations(double n, double variance, int count) { return n * std::sqrt(variance / count); }

TEST(Random, UniformNumbersFillTheirRangeEvenly) {
  constexpr int count = 100'000, bins = 16;
  Random random(1);
  std::array<int, bins> counts{};
  for (int k = 0; k < count; ++k) {
    const double u = random.uniform(-2, 6);
    ASSERT_TRUE(u >= -2 && u < 6) << u;
    ++counts[static_cast<std::size_t>((u + 2) * 2)];
  }
  for (const int each : counts) EXPECT_NEAR(each, count / bins, 4.5 * std::sqrt(count / bins));
  EXPECT_TRUE(Random(1).chance(1));
  EXPECT_FALSE(Random(1).chance(0));
}

/// The chosen draw is so close to 1 that the nearest float is 1.
TEST(Random, UniformNumbersStayBelowTheirEndInFloatsToo) {
  const Random::State near_1{.key = 7, .drawn = 47'147'798};
  Random exact(near_1);
  const double u = exact.uniform();
  ASSERT_GT(u, 1 - 0x1p-25);
  ASSERT_LT(u, 1);
  EXPECT_LT(Random(near_1).uniform({}, f32).item(), 1);
  EXPECT_LT(Random(near_1).uniform({}, -3, 5, f32).item(), 5);
  EXPECT_EQ(Random(near_1).uniform({}, f64).item(), u);
  EXPECT_LT(Random(near_1).uniform(1e9, 1e9 + 1), 1e9 + 1);
  EXPECT_EQ(Random(near_1).uniform({}, 2, 2, f32).item(), 2);
}

TEST(Random, NormalNumbersHaveTheMomentsOfANormalDistribution) {
  constexpr int count = 200'000;
  const Tensor x = Random(2).normal({count}, 3, 2, f64);
  std::array<double, 5> moment{};
  double neighbours = 0, before = 0;
  for (const double value : x.values<double>()) {
    const double z = (value - 3) / 2;
    for (std::size_t k = 1; k < 5; ++k) moment[k] += std::pow(z, k) / count;
    neighbours += z * before / count;
    before = z;
  }
  EXPECT_NEAR(moment[1], 0, deviations(4, 1, count));
  EXPECT_NEAR(moment[2], 1, deviations(4, 2, count));
  EXPECT_NEAR(moment[3], 0, deviations(4, 15, count));
  EXPECT_NEAR(moment[4], 3, deviations(4, 96, count));
  EXPECT_NEAR(neighbours, 0, deviations(4, 1, count));
}

TEST(Random, IntegersAreEquallyLikely) {
  constexpr int count = 60'000;
  for (const std::int64_t range : {1, 2, 3, 7, 10}) {
    const Tensor x = Random(3).integers({count}, range);
    std::map<std::int64_t, int> counts;
    for (const std::int64_t value : x.values<std::int64_t>()) ++counts[value];
    EXPECT_EQ(std::ssize(counts), range);
    EXPECT_EQ(counts.begin()->first, 0);
    EXPECT_EQ(counts.rbegin()->first, range - 1);
    const double want = count / static_cast<double>(range);
    for (const auto& [value, times] : counts)
      EXPECT_NEAR(times, want, 4.5 * std::sqrt(want)) << value << " of " << range;
  }
}

/// 64 bits modulo this range would give a number below 2^62 in three cases of four, not in two of three.
TEST(Random, IntegersOfALargeRangeAreNotBiased) {
  constexpr int count = 20'000;
  Random random(4);
  int low = 0;
  for (int k = 0; k < count; ++k) low += random.integer(std::int64_t{3} << 61) < std::int64_t{1} << 62;
  EXPECT_NEAR(low / static_cast<double>(count), 2.0 / 3, deviations(4, 2.0 / 9, count));
}

TEST(Random, EveryOrderIsEquallyLikely) {
  constexpr int count = 12'000;
  Random random(5);
  std::map<std::vector<std::int64_t>, int> counts;
  for (int k = 0; k < count; ++k) ++counts[random.permutation(3)];
  EXPECT_EQ(counts.size(), 6u);
  for (const auto& [order, times] : counts) EXPECT_NEAR(times, count / 6, 4.5 * std::sqrt(count / 6));
  EXPECT_EQ(random.permutation(0).size(), 0u);
  EXPECT_EQ(random.permutation(1), (std::vector<std::int64_t>{0}));
}

TEST(Random, NoneDrawsNothingAndGivesNoMoreThanItIsAskedFor) {
  Random none = Random::none(10);
  EXPECT_FALSE(none.draws());
  EXPECT_TRUE(Random(1).draws());
  EXPECT_EQ(none.normal(), 0);
  EXPECT_EQ(none.bits64(), 0U);
  const Tensor x = none.uniform({2, 3}, 1, 2, f64);
  for (const double value : x.values<double>()) EXPECT_EQ(value, 0);
  EXPECT_EQ(none.stream("weights").normal({4}).shape(), (Shape{4})) << "its streams draw nothing, either";
  expect_error<ValueError>([&] { none.normal({5}); },
                           "Random::normal: [5] is more than the 4 elements that are left of those to be loaded; the "
                           "sizes are not those of the weights");
  EXPECT_THROW(none.uniform({1 << 20, 1 << 20}), ValueError) << "before it is allocated";
  EXPECT_THROW(none.normal({1}, i64), DtypeError);
  EXPECT_EQ(none.normal({4}).shape(), (Shape{4})) << "what was refused counts for nothing";
}

TEST(Random, RefusesWhatHasNoMeaning) {
  Random random(6);
  expect_error<ValueError>([&] { random.integer(0); },
                           "Random::integer: a choice of 0 numbers; count must be at least 1");
  expect_error<ValueError>([&] { random.permutation(-1); },
                           "Random::permutation: of -1 numbers; count must be 0 or more");
  EXPECT_THROW(random.uniform({2}, 1, 0), ValueError);
  EXPECT_THROW(random.uniform({2}, nan, 1), ValueError);
  EXPECT_THROW(random.normal({2}, i64), DtypeError);
  EXPECT_EQ(random.state().drawn, 0u);
}

}  // namespace
}  // namespace retrace

// The tree of sums: the same bytes on any number of ranks.
#include <gtest/gtest.h>
#include <retrace/core/tensor/random.h>
#include <retrace/models/training/ranks/shard_sum.h>
#include <retrace/tests/errors.h>
#include <retrace/tests/models/training/ranks/thread_ranks.h>

#include <bit>
#include <string>

namespace retrace {
namespace {

/// Numbers whose sum depends on the order, -0 and tiny ones among them, for three parameters; some shards lack the
/// second one, and all the third.
ShardTerm term_of_shard(std::int64_t shard, Dtype dtype) {
  Random random = Random(5).stream(static_cast<std::uint64_t>(shard));
  ShardTerm term{{random.normal({3, 5}, 0, 1e4, dtype), Tensor(), Tensor()}, {random.normal(), 1}};
  if (shard % 3 != 1) term.gradients[1] = full({7}, shard % 2 == 0 ? -0.0 : 1e-3 * static_cast<double>(shard), dtype);
  return term;
}

Tensors parameters_of(Dtype dtype) { return {zeros({3, 5}, dtype), zeros({7}, dtype), zeros({2}, dtype)}; }

ShardTerm sum_of(std::int64_t shards, Dtype dtype, Communicator* ranks) {
  const OwnShards own = own_shards(shards, ranks);
  ShardSum sum;
  for (std::int64_t shard = own.first; shard < own.last; ++shard) sum.add(0, shard, term_of_shard(shard, dtype));
  return sum_over_ranks(sum, shards, parameters_of(dtype), ranks);
}

std::string bytes_of_term(const ShardTerm& term) {
  std::string all;
  const auto add = [&](std::span<const std::byte> bytes) {
    all.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  };
  for (const Tensor& each : term.gradients) {
    all += each.defined() ? "has" : "lacks";
    if (each.defined()) add(bytes_of(each));
  }
  add(std::as_bytes(std::span(term.numbers)));
  return all;
}

TEST(ShardSum, IsABinaryTree) {
  std::vector<Tensor> of;
  for (std::int64_t shard = 0; shard < 8; ++shard) of.push_back(term_of_shard(shard, f32).gradients[0]);
  const auto value = [&](int k, std::size_t at) { return of[static_cast<std::size_t>(k)].values<float>()[at]; };
  const ShardTerm sum = sum_of(8, f32, nullptr);
  for (std::size_t at = 0; at < 15; ++at) {
    const auto v = [&](int k) { return value(k, at); };
    EXPECT_EQ(sum.gradients[0].values<float>()[at], ((v(0) + v(1)) + (v(2) + v(3))) + ((v(4) + v(5)) + (v(6) + v(7))));
  }
  EXPECT_EQ(sum.numbers[1], 8);
  EXPECT_TRUE(sum.gradients[1].defined());
  EXPECT_FALSE(sum.gradients[2].defined());
}

TEST(ShardSum, HasTheSameBytesOnAnyNumberOfRanks) {
  for (const Dtype dtype : {f32, f64})
    for (const std::int64_t shards : {1, 2, 4, 8, 16}) {
      const std::string alone = bytes_of_term(sum_of(shards, dtype, nullptr));
      for (int size = 1; size <= std::min<int>(static_cast<int>(shards), 11); ++size)
        on_ranks(size, [&](ThreadRank& rank) {
          EXPECT_EQ(bytes_of_term(sum_of(shards, dtype, &rank)), alone) << shards << " shards, " << size << " ranks";
        });
    }
}

TEST(ShardSum, OfAPowerOfTwoSendsLessThanTwiceTheGradient) {
  const std::size_t gradient = (15 + 7 + 2) * sizeof(float), numbers = (2 + 3) * sizeof(double);
  for (const int size : {2, 4, 8})
    on_ranks(size, [&](ThreadRank& rank) {
      sum_of(8, f32, &rank);
      const auto rounds = static_cast<std::size_t>(std::bit_width(static_cast<unsigned>(size)) - 1);
      EXPECT_LE(rank.bytes_sent, 2 * gradient + rounds * numbers);
    });
}

TEST(ShardSum, ShardsCutRowsEvenly) {
  for (const std::int64_t rows : {8, 9, 15, 1600})
    for (std::int64_t k = 0, end = 0; k < 8; ++k) {
      const Shard shard{k, 8};
      EXPECT_EQ(shard.begin(rows), end);
      end = shard.end(rows);
      EXPECT_LE(std::abs(shard.size(rows) - rows / 8), 1);
      EXPECT_TRUE(k < 7 || end == rows);
    }
}

TEST(ShardSum, RefusesOtherNumbers) {
  expect_error<ValueError>([] { check_shards("fit", 6, nullptr); },
                           "fit: shards is 6; it is a power of two, such as 8");
  on_ranks(3, [](ThreadRank& rank) {
    expect_error<ValueError>(
        [&] { check_shards("fit", 2, &rank); },
        "fit: 3 ranks are more than the 2 shards of a batch, so some would have nothing to do; start 2 ranks "
        "or fewer, or choose shards 4");
  });
}

TEST(Ranks, TellWhichSettingsDiffer) {
  on_ranks(3, [](ThreadRank& rank) {
    const std::string settings = text("batch 8, seed ", rank.rank() == 2 ? 7 : 1, ", steps 5");
    expect_error<ValueError>(
        [&] { check_same_settings(rank, "fit", settings, "start all ranks with the same command"); },
        "fit: the ranks differ: rank 0 has seed 1, and rank 2 has seed 7; start all ranks with the same "
        "command");
    check_same_settings(rank, "fit", "batch 8", "");
  });
}

}  // namespace
}  // namespace retrace

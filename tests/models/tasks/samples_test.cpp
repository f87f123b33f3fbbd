// Stored runs draw the samples on which they were trained again.
#include <gtest/gtest.h>
#include <retrace/models/tasks/task.h>
#include <retrace/tests/models/zoo.h>

#include <cstdint>
#include <map>
#include <string>

namespace retrace {
namespace {

/// A hash of integers (FNV-1a of their values).
class Hash {
 public:
  void add(const Tensor& integers) {
    const Tensor values = integers.to(i64);
    for (const std::int64_t value : values.values<std::int64_t>()) {
      hash_ ^= static_cast<std::uint64_t>(value);
      hash_ *= 1099511628211ULL;
    }
  }
  std::uint64_t value() const { return hash_; }

 private:
  std::uint64_t hash_ = 14695981039346656037ULL;
};

std::uint64_t hash_of_samples(std::string_view name) {
  const auto task = make_task(name);
  Random random(7);
  Hash hash;
  for (const std::int64_t count : {1, 130}) {
    const Batch batch = task->sample(random, count);
    hash.add(batch.x), hash.add(batch.y);
  }
  return hash.value();
}

TEST(Samples, OfSymbolsAreThoseOfEarlierVersions) {
  const std::map<std::string_view, std::uint64_t> hashes{
      {"copy", 3310712201027054785ULL},           {"reverse", 17013857310170904659ULL},
      {"double", 3857108390812919874ULL},         {"recall", 15550153589889332703ULL},
      {"dynamic-recall", 4153072071580295684ULL}, {"multi-query-recall", 14917417941478958924ULL},
      {"sorting", 17900418692262886604ULL},       {"parity", 7885382670081825663ULL},
      {"pair-matching", 10328265616972947063ULL},
  };
  for (const auto& [name, hash] : hashes) EXPECT_EQ(hash_of_samples(name), hash) << name;
  if (!has_zoo()) return;
  EXPECT_EQ(hash_of_samples("even-pairs"), 17002185834300927502ULL);
  EXPECT_EQ(hash_of_samples("stack-manipulation"), 17400194376510020988ULL);
  EXPECT_EQ(hash_of_samples("binary-multiplication"), 4183733207861194147ULL);
}

}  // namespace
}  // namespace retrace

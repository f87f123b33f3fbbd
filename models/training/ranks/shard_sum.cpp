#include <retrace/core/base/error.h>
#include <retrace/core/base/parallel.h>
#include <retrace/models/training/ranks/shard_sum.h>

#include <algorithm>
#include <bit>
#include <utility>

namespace retrace {
namespace {

/// sum += term, on one thread or several. A term that is undefined is zeros (so -0 becomes 0 whichever rank adds it).
void add_gradient(const Tensor& sum, const Tensor& term) {
  constexpr std::int64_t grain = 1 << 15;
  dispatch_real(sum.dtype(), "sum_over_ranks", [&](auto zero) {
    using T = decltype(zero);
    sum.update<T>([&](std::span<T> to) {
      const T* from = term.defined() ? term.values<T>().data() : nullptr;
      parallel_for(std::ssize(to), grain, [=](std::int64_t begin, std::int64_t end) {
        for (std::int64_t k = begin; k < end; ++k) to[static_cast<std::size_t>(k)] += from == nullptr ? T{0} : from[k];
      });
    });
  });
}

}  // namespace

void add_term(ShardTerm& sum, ShardTerm term) {
  for (std::size_t k = 0; k < sum.gradients.size(); ++k) {
    Tensor &own = sum.gradients[k], &other = term.gradients[k];
    if (!own.defined()) std::swap(own, other);
    if (own.defined()) add_gradient(own, other);
  }
  for (std::size_t k = 0; k < sum.numbers.size(); ++k) sum.numbers[k] += term.numbers[k];
}

OwnShards shards_of_rank(std::int64_t shards, int rank, int ranks) {
  const Shard of_shards{rank, ranks};
  return {of_shards.begin(shards), of_shards.end(shards)};
}

OwnShards own_shards(std::int64_t shards, const Communicator* ranks) {
  return ranks == nullptr ? OwnShards{0, shards} : shards_of_rank(shards, ranks->rank(), ranks->size());
}

void check_shards(const char* function, std::int64_t shards, const Communicator* ranks) {
  if (shards < 1 || !std::has_single_bit(static_cast<std::uint64_t>(shards)))
    throw ValueError(text(function, ": shards is ", shards, "; it is a power of two, such as 8"));
  if (ranks != nullptr && ranks->size() > shards)
    throw ValueError(text(function, ": ", ranks->size(), " ranks are more than the ", shards,
                          " shards of a batch, so some would have nothing to do; start ", shards,
                          " ranks or fewer, or choose shards ",
                          std::bit_ceil(static_cast<std::uint64_t>(ranks->size()))));
}

void ShardSum::add(int level, std::int64_t place, ShardTerm term) {
  for (;; ++level, place /= 2) {
    const auto sibling = std::ranges::find_if(
        nodes_, [&](const Node& node) { return node.level == level && node.place == (place ^ 1); });
    if (sibling == nodes_.end()) break;
    const bool is_right = place % 2 == 1;
    if (is_right) std::swap(sibling->term, term);
    add_term(term, std::move(sibling->term));
    nodes_.erase(sibling);
  }
  nodes_.push_back({level, place, std::move(term)});
}

}  // namespace retrace

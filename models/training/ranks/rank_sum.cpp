// The sums of the tree whose terms are on different ranks. Of N ranks, M = 2^k are the largest power of two. Each of
// the M subtrees of the tree has a holder, the rank that owns its first shard. (1) What other ranks have of a subtree
// goes to its holder. (2) The holders exchange halves, quarters, ... of their sums with partners at the distances 1, 2,
// 4, ... (recursive halving: each level of the tree is added up on all holders at once), and collect the pieces on the
// way back (recursive doubling). (3) The other ranks get the result.
#include <retrace/models/training/ranks/shard_sum.h>

#include <algorithm>
#include <bit>
#include <utility>

namespace retrace {
namespace {

/// The term with its gradients in one tensor, and with a number more per parameter: how many terms had its gradient.
ShardTerm flattened(const ShardTerm& term, const Tensors& parameters) {
  std::int64_t size = 0;
  for (const Tensor& parameter : parameters) size += parameter.numel();
  ShardTerm flat{{zeros({size}, parameters.front().dtype())}, term.numbers};
  std::int64_t at = 0;
  for (std::size_t k = 0; k < parameters.size(); ++k) {
    const bool has_gradient = term.gradients[k].defined();
    if (has_gradient) copy_values(term.gradients[k], view(flat.gradients[0], parameters[k].shape(), at));
    flat.numbers.push_back(has_gradient ? 1 : 0);
    at += parameters[k].numel();
  }
  return flat;
}

ShardTerm unflattened(ShardTerm flat, const Tensors& parameters) {
  ShardTerm term;
  const std::size_t numbers = flat.numbers.size() - parameters.size();
  std::int64_t at = 0;
  for (std::size_t k = 0; k < parameters.size(); ++k) {
    const bool has_gradient = flat.numbers[numbers + k] > 0;
    term.gradients.push_back(has_gradient ? view(flat.gradients[0], parameters[k].shape(), at) : Tensor());
    at += parameters[k].numel();
  }
  flat.numbers.resize(numbers);
  term.numbers = std::move(flat.numbers);
  return term;
}

std::span<std::byte> bytes_of(std::vector<double>& numbers) { return std::as_writable_bytes(std::span(numbers)); }

/// A sum of the tree, by its place in it.
struct Place {
  int level;
  std::int64_t place;
};

/// The largest sums that consist of these shards alone.
std::vector<Place> sums_of(OwnShards own) {
  std::vector<Place> places;
  while (own.first < own.last) {
    const auto left = static_cast<std::uint64_t>(own.last - own.first);
    const int aligned = own.first == 0 ? 63 : std::countr_zero(static_cast<std::uint64_t>(own.first));
    const int level = std::min(aligned, static_cast<int>(std::bit_width(left)) - 1);
    places.push_back({level, own.first >> level});
    own.first += std::int64_t{1} << level;
  }
  return places;
}

class RankSum {
 public:
  RankSum(std::int64_t shards, const Tensors& parameters, Communicator& ranks)
      : shards_(shards),
        parameters_(parameters),
        ranks_(ranks),
        holders_(static_cast<int>(std::bit_floor(static_cast<unsigned>(ranks.size())))),
        of_holder_(shards / holders_) {
    for (int rank = 0; rank < ranks.size(); ++rank) {
      const OwnShards own = shards_of_rank(shards, rank, ranks.size());
      const std::int64_t subtree = (own.first + of_holder_ - 1) / of_holder_;
      (subtree * of_holder_ < own.last ? holder_ : others_).push_back(rank);
    }
  }

  ShardTerm of(ShardSum& sum) {
    const auto own = std::ranges::find(holder_, ranks_.rank());
    own_subtree_ = own == holder_.end() ? -1 : static_cast<int>(own - holder_.begin());
    for (ShardSum::Node& node : sum.nodes()) node.term = flattened(node.term, parameters_);
    collect(sum);
    ShardTerm result = own_subtree_ >= 0 ? std::move(sum.nodes().front().term) : empty_term(sum);
    sum.nodes().clear();
    if (own_subtree_ >= 0) add_subtrees(result);
    spread(result);
    return unflattened(std::move(result), parameters_);
  }

 private:
  static ShardTerm empty_term(const ShardSum& sum) {
    const ShardTerm& like = sum.nodes().front().term;
    return {{empty_like(like.gradients[0])}, std::vector<double>(like.numbers.size())};
  }
  int holder_of(const Place& sum) const {
    return holder_[static_cast<std::size_t>((sum.place << sum.level) / of_holder_)];
  }

  /// Step 1.
  void collect(ShardSum& sum) {
    std::vector<Sent> sent;
    for (ShardSum::Node& node : sum.nodes()) {
      const int holder = holder_of({node.level, node.place});
      if (holder == ranks_.rank()) continue;
      sent.push_back({holder, bytes_of(node.term.gradients[0])});
      sent.push_back({holder, bytes_of(node.term.numbers)});
    }
    std::vector<ShardSum::Node> coming;
    for (int rank = 0; rank < ranks_.size(); ++rank)
      for (const Place& place : sums_of(shards_of_rank(shards_, rank, ranks_.size())))
        if (rank != ranks_.rank() && holder_of(place) == ranks_.rank())
          coming.push_back({place.level, place.place, empty_term(sum)});
    std::vector<Received> received;
    for (ShardSum::Node& node : coming) {
      const int from = owner_of(node.place << node.level);
      received.push_back({from, bytes_of(node.term.gradients[0])});
      received.push_back({from, bytes_of(node.term.numbers)});
    }
    if (!sent.empty() || !received.empty()) ranks_.exchange(sent, received);
    for (ShardSum::Node& node : coming) sum.add(node.level, node.place, std::move(node.term));
    std::erase_if(sum.nodes(), [&](const ShardSum::Node& node) {
      return own_subtree_ >= 0 && holder_of({node.level, node.place}) != ranks_.rank();
    });
  }
  int owner_of(std::int64_t shard) const {
    int rank = 0;
    while (shards_of_rank(shards_, rank, ranks_.size()).last <= shard) ++rank;
    return rank;
  }

  /// Step 2.
  void add_subtrees(ShardTerm& term) {
    const Tensor& whole = term.gradients[0];
    const auto part = [&](OwnShards range) { return view(whole, {range.last - range.first}, range.first); };
    std::vector<OwnShards> others;  // what the partner of each level holds
    OwnShards own{0, whole.numel()};
    for (int distance = 1; distance < holders_; distance *= 2) {
      const std::int64_t middle = (own.first + own.last) / 2;
      const OwnShards low{own.first, middle}, high{middle, own.last};
      const bool is_low = (own_subtree_ & distance) == 0;
      own = is_low ? low : high;
      others.push_back(is_low ? high : low);
      ShardTerm coming{{empty({own.last - own.first}, whole.dtype())}, std::vector<double>(term.numbers.size())};
      const int partner = partner_at(distance);
      ranks_.exchange({{partner, bytes_of(part(others.back()))}, {partner, bytes_of(term.numbers)}},
                      {{partner, bytes_of(coming.gradients[0])}, {partner, bytes_of(coming.numbers)}});
      ShardTerm piece{{part(own)}, std::move(term.numbers)};
      add_term(piece, std::move(coming));
      term.numbers = std::move(piece.numbers);
    }
    for (int distance = holders_ / 2; distance > 0; distance /= 2) {
      const OwnShards other = others.back();
      others.pop_back();
      const int partner = partner_at(distance);
      ranks_.exchange({{partner, bytes_of(part(own))}}, {{partner, bytes_of(part(other))}});
      own = {std::min(own.first, other.first), std::max(own.last, other.last)};
    }
  }
  int partner_at(int distance) const { return holder_[static_cast<std::size_t>(own_subtree_ ^ distance)]; }

  /// Step 3.
  void spread(ShardTerm& result) {
    for (std::size_t k = 0; k < others_.size(); ++k) {
      if (holder_[k] == ranks_.rank())
        ranks_.exchange({{others_[k], bytes_of(result.gradients[0])}, {others_[k], bytes_of(result.numbers)}}, {});
      if (others_[k] == ranks_.rank())
        ranks_.exchange({}, {{holder_[k], bytes_of(result.gradients[0])}, {holder_[k], bytes_of(result.numbers)}});
    }
  }

  std::int64_t shards_;
  const Tensors& parameters_;
  Communicator& ranks_;
  int holders_;                       // M
  std::int64_t of_holder_;            // shards of a subtree
  std::vector<int> holder_, others_;  // holder_[v] of subtree v; the ranks that hold none
  int own_subtree_ = -1;
};

}  // namespace

std::span<std::byte> bytes_of(const Tensor& x) {
  return dispatch_any(x.dtype(), [&](auto zero) { return std::as_writable_bytes(x.mutable_values<decltype(zero)>()); });
}

ShardTerm sum_over_ranks(ShardSum& sum, std::int64_t shards, const Tensors& parameters, Communicator* ranks) {
  if (ranks != nullptr && ranks->size() > 1) return RankSum(shards, parameters, *ranks).of(sum);
  ShardTerm whole = std::move(sum.nodes().front().term);
  sum.nodes().clear();
  return whole;
}

}  // namespace retrace

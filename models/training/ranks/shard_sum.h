// Gradients of the shards of a batch, added in an order that does not depend on who computes them.
//
// A batch is cut into S shards, S a power of two, and the gradient of each is computed alone. They are the leaves of a
// binary tree: shards 0 and 1 are added, 2 and 3, ..., then the sums of these pairs, and so on. Ranks own whole shards,
// one after the other, and whatever they compute, each sum of the tree has the same two terms: any number of ranks
// gives the same bytes.
#pragma once

#include <cstdint>
#include <vector>

#include <retrace/core/tensor/tensor.h>
#include <retrace/models/training/ranks/communicator.h>

namespace retrace {

/// Shard `number` of `count`, and the part of a batch that it is: rows [begin, end), as many as in other shards or one
/// more.
struct Shard {
  std::int64_t number = 0;
  std::int64_t count = 1;
  std::int64_t begin(std::int64_t rows) const { return rows * number / count; }
  std::int64_t end(std::int64_t rows) const { return rows * (number + 1) / count; }
  std::int64_t size(std::int64_t rows) const { return end(rows) - begin(rows); }
};

/// The shards [first, last) of one rank.
struct OwnShards {
  std::int64_t first = 0;
  std::int64_t last = 0;  ///< the one after them
};
/// Those of a rank of `ranks`; all of them without ranks.
OwnShards shards_of_rank(std::int64_t shards, int rank, int ranks);
OwnShards own_shards(std::int64_t shards, const Communicator* ranks);
/// Throws ValueError, in the name of `function`, unless there are as many shards as ranks, or more, and their number is
/// a power of two.
void check_shards(const char* function, std::int64_t shards, const Communicator* ranks);

/// What is added up: a gradient for each parameter, undefined where there is none, and numbers of any meaning.
struct ShardTerm {
  Tensors gradients;
  std::vector<double> numbers;
};
/// sum += term; the tensors of both may be changed. Where only one has a gradient, the other counts as zeros.
void add_term(ShardTerm& sum, ShardTerm term);

/// The sums of the tree, as they become complete.
class ShardSum {
 public:
  /// Adds the sum over the shards [place 2^level, (place + 1) 2^level), and every larger sum that is then complete.
  void add(int level, std::int64_t place, ShardTerm term);
  /// A sum whose sibling has not come yet.
  struct Node {
    int level;
    std::int64_t place;
    ShardTerm term;
  };
  std::vector<Node>& nodes() { return nodes_; }
  const std::vector<Node>& nodes() const { return nodes_; }

 private:
  std::vector<Node> nodes_;
};

/// The bytes of a tensor's elements, for a communicator.
std::span<std::byte> bytes_of(const Tensor& x);
/// The sum over all shards, on every rank: each has added the terms of its own shards to `sum`, which is left empty.
/// The gradients are those of `parameters`, of one dtype. Where no shard has a gradient, it stays undefined. This is
/// one exchange: between 2^k ranks, each sends and receives less than twice the bytes of the gradients, in 2 k
/// messages.
ShardTerm sum_over_ranks(ShardSum& sum, std::int64_t shards, const Tensors& parameters, Communicator* ranks);

}  // namespace retrace

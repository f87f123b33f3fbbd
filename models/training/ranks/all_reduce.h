// The gradients of all shards in a training loop of one's own.
//
//   MpiRanks ranks;
//   double loss = all_reduce_gradients(model, ranks, 8, [&](const Shard& shard) { return loss_of_rows(shard); });
//   adam.step();
#pragma once

#include <functional>

#include <retrace/models/training/ranks/shard_sum.h>
#include <retrace/nn/module/module.h>

namespace retrace {

/// The gradients of the last backward, undefined where there is none; the parameters have none afterwards.
Tensors take_gradients(const Tensors& parameters);
/// Makes them the gradients of the parameters, which have none; where one is undefined, there is still none.
void give_gradients(const Tensors& parameters, const Tensors& gradients);

/// The loss of a shard, which is recorded: its part in that of the batch.
using LossOfShard = std::function<Tensor(const Shard& shard)>;
/// Runs the backward of each of this rank's shards, and leaves in the parameters of every rank the sum of the gradients
/// of all shards, with the same bytes on any number of ranks. Returns the sum of their losses. The parameters have the
/// same values on every rank, one dtype, and no gradient yet. Throws as check_shards does.
double all_reduce_gradients(const Tensors& parameters, Communicator& ranks, std::int64_t shards,
                            const LossOfShard& loss_of);
template <Module M>
double all_reduce_gradients(const M& model, Communicator& ranks, std::int64_t shards, const LossOfShard& loss_of) {
  return all_reduce_gradients(parameter_tensors(model), ranks, shards, loss_of);
}

}  // namespace retrace

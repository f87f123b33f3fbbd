#include <retrace/core/tape/identity.h>
#include <retrace/core/tape/tape.h>
#include <retrace/models/training/ranks/all_reduce.h>
#include <retrace/ops/loops/kept_panels.h>

namespace retrace {

void give_gradients(const Tensors& parameters, const Tensors& gradients) {
  Tape tape;
  Tensors copies, cotangents;
  for (std::size_t k = 0; k < parameters.size(); ++k) {
    if (!gradients[k].defined()) continue;
    copies.push_back(identity(parameters[k]));
    cotangents.push_back(gradients[k]);
  }
  if (!copies.empty()) tape.backward(copies, cotangents);
}

Tensors take_gradients(const Tensors& parameters) {
  Tensors gradients;
  for (const Tensor& parameter : parameters) {
    gradients.push_back(parameter.has_unused_grad() ? parameter.grad() : Tensor());
    parameter.zero_grad();
  }
  return gradients;
}

double all_reduce_gradients(const Tensors& parameters, Communicator& ranks, std::int64_t shards,
                            const LossOfShard& loss_of) {
  check_shards("all_reduce_gradients", shards, &ranks);
  const KeptPanels packed_once(parameters);
  ShardSum sum;
  const OwnShards own = own_shards(shards, &ranks);
  for (std::int64_t number = own.first; number < own.last; ++number) {
    Tape tape;
    const Tensor loss = loss_of({number, shards});
    tape.backward(loss);
    sum.add(0, number, {take_gradients(parameters), {loss.item()}});
  }
  const ShardTerm total = sum_over_ranks(sum, shards, parameters, &ranks);
  give_gradients(parameters, total.gradients);
  return total.numbers.front();
}

}  // namespace retrace

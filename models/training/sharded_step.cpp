// A step whose gradient is the sum of those of shards (ranks/shard_sum.h). With the gradients travel three numbers for
// each batch of the step: its loss, the sum of its metric, and the weight of that sum; and at the end, how many shards
// were left out because a rank was to stop. So all ranks learn of it by the same exchange.
#include <retrace/core/tape/tape.h>
#include <retrace/models/training/ranks/all_reduce.h>
#include <retrace/models/training/training.h>
#include <retrace/ops/loops/kept_panels.h>
#include <retrace/ops/ops.h>

#include <cmath>
#include <utility>

namespace retrace {

double Training::walk_back_in_shards() {
  ShardTerm sum = sum_of_shards(Walk::backward);
  give_gradients(tensors_, sum.gradients);
  const double loss = loss_of_step(sum);
  numbers_of_step_ = std::move(sum.numbers);
  return loss;
}

double Training::loss_of_step(const ShardTerm& sum) const {
  double loss = 0;
  for (std::size_t part = 0; part < sum.numbers.size(); part += 3) loss += sum.numbers[part];
  return loss / static_cast<double>(options_.accumulate);
}

ShardTerm Training::sum_of_shards(Walk walk) {
  const KeptPanels packed_once(tensors_);
  ShardSum terms;
  const OwnShards own = own_shards(*options_.shards, options_.ranks);
  for (std::int64_t number = own.first; number < own.last; ++number) {
    const bool is_left_out = walk == Walk::backward && is_stopped();
    terms.add(0, number, is_left_out ? left_out_term() : term_of({number, *options_.shards}, walk));
  }
  ShardTerm sum = sum_over_ranks(terms, *options_.shards, tensors_, options_.ranks);
  const double left_out = sum.numbers.back();
  sum.numbers.pop_back();
  if (left_out > 0) throw Stopped();
  return sum;
}

ShardTerm Training::term_of(const Shard& shard, Walk walk) {
  ShardTerm term;
  const std::int64_t parts = options_.accumulate;
  for (std::int64_t part = 0; part < parts; ++part) {
    std::optional<Tape> tape;
    if (walk == Walk::backward) tape.emplace();
    const ShardLoss of = loss_of_shard(steps() * parts + part, shard);
    const double loss = of.loss.defined() ? of.loss.item() : 0;
    if (tape && of.loss.defined() && std::isfinite(loss))
      tape->backward(parts == 1 ? of.loss : of.loss / static_cast<double>(parts));
    for (const double number : {loss, of.metric, of.weight}) term.numbers.push_back(number);
  }
  term.gradients = take_gradients(tensors_);
  term.numbers.push_back(0);
  return term;
}

ShardTerm Training::left_out_term() const {
  ShardTerm term{Tensors(tensors_.size()), std::vector<double>(static_cast<std::size_t>(3 * options_.accumulate))};
  term.numbers.push_back(1);
  return term;
}

void Training::observe_shards() {
  for (std::size_t part = 0; part < numbers_of_step_.size(); part += 3)
    observe(numbers_of_step_[part + 1] / numbers_of_step_[part + 2]);
}

ShardLoss Training::loss_of_shard(std::int64_t, const Shard&) {
  throw ValueError("fit: this training cannot cut its batches into shards; leave shards out");
}

}  // namespace retrace

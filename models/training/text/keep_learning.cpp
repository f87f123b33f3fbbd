#include <retrace/core/tape/tape.h>
#include <retrace/models/tasks/text/streams.h>
#include <retrace/models/training/text/keep_learning.h>
#include <retrace/nn/optim/clip.h>
#include <retrace/nn/optim/optimizers.h>
#include <retrace/ops/ops.h>

#include <cmath>

namespace retrace {

namespace {

/// A model with the same weights.
std::unique_ptr<SequenceModel> twin_of(const StoredRun& run) {
  Random replaced;
  std::unique_ptr<SequenceModel> twin = make_model_for(*run.task, run.spec, replaced);
  assign(*twin, parameters(*run.model));
  return twin;
}

}  // namespace

std::vector<double> losses_while_learning(const StoredRun& run, TokenIds ids, const KeepLearningOptions& options) {
  if (!(options.learning_rate > 0 && std::isfinite(options.learning_rate) && options.clip > 0))
    throw ValueError(text("losses_while_learning: the learning rate ", options.learning_rate, " and the clip ",
                          options.clip, " have to be numbers above 0"));
  const DtypeScope scope(parameters(*run.model).front().tensor.dtype());
  const std::unique_ptr<SequenceModel> learner = twin_of(run);
  const Streams streams(ids, 1, run.task->sequence_length());
  // Momentum would go on in the direction of earlier segments.
  Adam adam(*learner, {.lr = options.learning_rate, .b1 = 0});
  std::vector<double> losses;
  SequenceState state;
  for (std::int64_t number = 0; number < streams.segments(); ++number) {
    Tape tape;
    const Batch segment = streams.segment(number);
    const Continued result = learner->continued(segment.x, state);
    if (learner->carries_state()) state = result.state.detach();
    const Tensor each = cross_entropy(result.answers, segment.y, {.reduction = Reduction::none});
    const Tensor in_f64 = each.detach().to(f64);
    losses.insert(losses.end(), in_f64.values<double>().begin(), in_f64.values<double>().end());
    tape.backward(mean(each));
    clip_norm(*learner, options.clip);
    adam.step();
  }
  return losses;
}

}  // namespace retrace

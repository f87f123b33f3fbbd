#include <retrace/core/tape/tape.h>
#include <retrace/models/training/text/keep_learning.h>
#include <retrace/nn/optim/clip.h>
#include <retrace/nn/optim/optimizers.h>
#include <retrace/ops/ops.h>

#include <cmath>

namespace retrace {

TextModel twin_of(const TextModel& model) {
  const std::vector<NamedTensor> weights = parameters(model.network);
  const DtypeScope scope(weights.front().tensor.dtype());
  Random replaced;
  TextModel twin(model.options, model.vocabulary, replaced);
  assign(twin.network, weights);
  return twin;
}

std::vector<double> losses_while_learning(const TextModel& model, TokenIds ids, const KeepLearningOptions& options) {
  if (!(options.learning_rate > 0 && std::isfinite(options.learning_rate) && options.clip > 0))
    throw ValueError(text("losses_while_learning: the learning rate ", options.learning_rate, " and the clip ",
                          options.clip, " have to be numbers above 0"));
  const TextModel learner = twin_of(model);
  const DtypeScope scope(parameters(learner.network).front().tensor.dtype());
  const Streams streams(ids, 1, model.options.length);
  // Momentum would go on in the direction of earlier segments.
  Adam adam(learner.network, {.lr = options.learning_rate, .b1 = 0});
  std::vector<double> losses;
  SequenceState state;
  for (std::int64_t number = 0; number < streams.segments(); ++number) {
    Tape tape;
    const Streams::Segment segment = streams.segment(number);
    const LanguageResult result = learner.network(segment.in, state);
    if (learner.carries_state()) state = result.state.detach();
    const Tensor each = cross_entropy(result.logits, segment.next, {.reduction = Reduction::none});
    const Tensor in_f64 = each.detach().to(f64);
    losses.insert(losses.end(), in_f64.values<double>().begin(), in_f64.values<double>().end());
    tape.backward(mean(each));
    clip_norm(learner.network, options.clip);
    adam.step();
  }
  return losses;
}

}  // namespace retrace

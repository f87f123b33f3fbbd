#include <retrace/models/networks/sequence_model.h>
#include <retrace/nn/layers/recurrent.h>
#include <retrace/ops/ops.h>

namespace retrace {

Tensor answers_to_prefixes(const SequenceModel& model, const Tensor& x, std::int64_t count, Random* random) {
  check_last_steps(x, count);
  Tensors answers;
  for (std::int64_t time = x.dim(1) - count + 1; time <= x.dim(1); ++time) {
    const Tensor answer = model(slice(x, {all, range(0, time)}), random);
    answers.push_back(reshape(answer, {answer.dim(0), 1, answer.dim(-1)}));
  }
  return concat(answers, 1);
}

Continued SequenceModel::continued(const Tensor& x, const SequenceState& state, Random* random) const {
  const Tensor before = state.take(1)[0], rows = before.defined() ? concat({before, x}, 1) : x;
  return {answers(rows, x.dim(1), random), {{rows}}};
}

StatesOverTime SequenceModel::states(const Tensor& x) const { return answers_over_time(answers(x, x.dim(1))); }

}  // namespace retrace

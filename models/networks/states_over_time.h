// The states of a network after each step of a sequence, as tensors of the tape, so that gradients with respect to
// them, and of them, can be seen.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <retrace/models/networks/sequence_state.h>
#include <retrace/nn/layers/gru.h>
#include <retrace/nn/layers/lstm.h>
#include <retrace/nn/layers/rnn.h>
#include <retrace/ops/ops.h>

namespace retrace {

/// One forward over x [B, T, F], step by step: all that happens later is computed from these tensors.
struct StatesOverTime {
  struct States {
    std::string name;  // "h"
    Tensors values;    // T of [B, H], or of [B, N, S] for a memory of N slots
  };
  std::vector<States> states;
  Tensor answers;  // [B, T, O]: the result after every step

  /// Adds the value of a state after the next step.
  void add(std::string_view name, const Tensor& value);
};

/// x[:, 0], x[:, 1], ... of x [B, T, F].
Tensors steps_of(const Tensor& x);

/// A network without states of its own: y [B, T, O], its answers, as a state "y".
StatesOverTime answers_over_time(const Tensor& y);
/// A model whose state, from which it goes on, is one memory.
template <class Model> StatesOverTime memory_over_time(const Model& model, const Tensor& x) {
  StatesOverTime result;
  SequenceState state;
  Tensors answers;
  for (const Tensor& now : steps_of(x)) {
    auto [answer, next] = model.continued(unsqueeze(now, 1), state);
    result.add("memory", next.parts[0]);
    answers.push_back(answer);
    state = std::move(next);
  }
  result.answers = concat(answers, 1);
  return result;
}
/// Recurrent layers from a state of zeros; the answers are h of the last one after every step. An Lstm has the states h
/// and c; of several layers, each has its own, "h of layer 0". Throws ValueError for a bidirectional layer, which has
/// no order in time.
StatesOverTime states_of(const Rnn& layer, const Tensor& x);
StatesOverTime states_of(const Lstm& layer, const Tensor& x);
StatesOverTime states_of(const Gru& layer, const Tensor& x);

}  // namespace retrace

// A model of recurrent layers.
#pragma once

#include <concepts>
#include <optional>

#include <retrace/models/networks/model_spec.h>
#include <retrace/models/networks/states_over_time.h>
#include <retrace/nn/layers/layers.h>
#include <retrace/nn/layers/recurrent.h>

namespace retrace {

/// A baseline: recurrent layers and W_out h_T + b_out, for h_T of the last layer, in both directions if it has two.
/// Dropout falls between the layers and on h_T. With output 0, the answers are the h_t themselves.
template <class Recurrent> struct RecurrentModel {
  Recurrent recurrent;
  std::optional<Linear> out;

  RecurrentModel(const ModelSizes& sizes, Random& random)
      : recurrent(sizes.input, sizes.hidden, random,
                  {.layers = sizes.form.layers.value_or(1),
                   .bidirectional = sizes.form.bidirectional,
                   .dropout = sizes.form.dropout.value_or(0)}) {
    if (sizes.output != 0)
      out.emplace(sizes.form.bidirectional ? 2 * sizes.hidden : sizes.hidden, sizes.output, random);
  }
  Tensor operator()(const Tensor& x, Random* random = nullptr) const {
    return answer(last_h(recurrent(x, {}, {}, random)), random);
  }
  /// Throws ValueError if bidirectional: the answer after a row would then depend on the rows after it.
  Tensor answers(const Tensor& x, std::int64_t count, Random* random = nullptr) const {
    check_one_direction();
    return answer(last_steps(recurrent(x, {}, {}, random).y, count), random);
  }
  /// From h, or h and c. Throws likewise.
  Continued continued(const Tensor& x, const SequenceState& state, Random* random = nullptr) const {
    check_one_direction();
    const auto result = run_from(state, x, random);
    return {answer(result.y, random), state_of(result)};
  }
  StatesOverTime states(const Tensor& x) const {
    StatesOverTime result = states_of(recurrent, x);
    result.answers = answer(result.answers, nullptr);
    return result;
  }
  void visit(auto&& see) const {
    if (!out) return recurrent.visit(see);
    see("recurrent", recurrent), see("out", *out);
  }

 private:
  static SequenceState state_of(const LstmResult& result) { return {{result.state.h, result.state.c}}; }
  static SequenceState state_of(const auto& result) { return {{result.h}}; }
  auto run_from(const SequenceState& state, const Tensor& x, Random* random) const {
    if constexpr (std::same_as<Recurrent, Lstm>) {
      const Tensors parts = state.take(2);
      return recurrent(x, {parts[0], parts[1]}, {}, random);
    } else {
      return recurrent(x, state.take(1)[0], {}, random);
    }
  }
  void check_one_direction() const {
    if (recurrent.options.bidirectional)
      throw ValueError(
          "make_model: a bidirectional model has read every row before it answers, so it has no answers "
          "after single rows; make it without `bidirectional`");
  }
  Tensor last_h(const auto& result) const {
    const Tensor h = state_of(result).parts.front();
    if (h.rank() == 2) return h;  // of a single cell
    const std::int64_t cells = h.dim(0);
    return recurrent.options.bidirectional ? concat({slice(h, {cells - 2}), slice(h, {cells - 1})}, -1)
                                           : slice(h, {cells - 1});
  }
  Tensor answer(const Tensor& h, Random* random) const {
    const double probability = recurrent.options.dropout;
    return out ? (*out)(probability > 0 ? dropout(h, probability, random) : h) : h;
  }
};

}  // namespace retrace

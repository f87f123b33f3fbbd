#include <retrace/models/networks/states_over_time.h>
#include <retrace/nn/layers/recurrent.h>

#include <algorithm>
#include <string>

namespace retrace {
namespace {

Tensor state_of_zeros(const Tensor& x, std::int64_t size) { return zeros({x.dim(0), size}, x.dtype()); }

/// One cell after the other, each over what the one below gives: run(cell, steps of its input, the suffix of its
/// states' names, result) -> h after each step.
template <class Layer, class Run> StatesOverTime states_of_layers(const Layer& layer, const Tensor& x, Run&& run) {
  if (layer.options.bidirectional)
    throw ValueError("states_of: the states of a bidirectional layer have no order in time; take one direction");
  StatesOverTime result;
  Tensors steps = steps_of(x);
  for (int k = 0; k < layer.options.layers; ++k) {
    const auto& cell = k == 0 ? layer.cell : layer.further[static_cast<std::size_t>(k) - 1];
    steps = run(cell, steps, layer.options.layers == 1 ? std::string() : text(" of layer ", k), result);
  }
  result.answers = stack(steps, 1);
  return result;
}

/// A layer whose cells have one state, h' = cell(x, h).
template <class Layer> StatesOverTime states_of_h(const Layer& layer, const Tensor& x) {
  return states_of_layers(
      layer, x, [](const auto& cell, const Tensors& steps, const std::string& suffix, StatesOverTime& result) {
        Tensors outputs;
        Tensor h = state_of_zeros(steps.front(), cell.hidden());
        for (const Tensor& now : steps) {
          result.add("h" + suffix, h = cell(now, h));
          outputs.push_back(h);
        }
        return outputs;
      });
}

}  // namespace

void StatesOverTime::add(std::string_view name, const Tensor& value) {
  auto found = std::ranges::find(states, name, &States::name);
  if (found == states.end()) found = states.insert(states.end(), States{std::string(name), {}});
  found->values.push_back(value);
}

Tensors steps_of(const Tensor& x) {
  Tensors steps;
  for (std::int64_t t = 0; t < x.dim(1); ++t) steps.push_back(at_step(x, t));
  return steps;
}

StatesOverTime answers_over_time(const Tensor& y) {
  StatesOverTime result;
  for (const Tensor& now : steps_of(y)) result.add("y", now);
  result.answers = stack(result.states.front().values, 1);
  return result;
}

StatesOverTime states_of(const Rnn& layer, const Tensor& x) {
  const Scope scope(&layer, "rnn");
  return states_of_h(layer, x);
}

StatesOverTime states_of(const Gru& layer, const Tensor& x) {
  const Scope scope(&layer, "gru");
  return states_of_h(layer, x);
}

StatesOverTime states_of(const Lstm& layer, const Tensor& x) {
  const Scope scope(&layer, "lstm");
  return states_of_layers(
      layer, x, [](const LstmCell& cell, const Tensors& steps, const std::string& suffix, StatesOverTime& result) {
        Tensors outputs;
        LstmState state{state_of_zeros(steps.front(), cell.hidden()), state_of_zeros(steps.front(), cell.hidden())};
        for (const Tensor& now : steps) {
          state = cell(now, state);
          result.add("h" + suffix, state.h);
          result.add("c" + suffix, state.c);
          outputs.push_back(state.h);
        }
        return outputs;
      });
}

}  // namespace retrace

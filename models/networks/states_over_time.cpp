#include <retrace/models/networks/states_over_time.h>
#include <retrace/nn/layers/recurrent.h>

#include <algorithm>
#include <string>

namespace retrace {
namespace {

const Tensor& h_of(const Tensor& h) { return h; }
const Tensor& h_of(const LstmState& state) { return state.h; }

Tensor initial_state(const auto& cell, const Tensor& x) { return zeros({x.dim(0), cell.hidden()}, x.dtype()); }
LstmState initial_state(const LstmCell& cell, const Tensor& x) {
  const Shape shape{x.dim(0), cell.hidden()};
  return {zeros(shape, x.dtype()), zeros(shape, x.dtype())};
}

void add(StatesOverTime& result, const std::string& suffix, const Tensor& h) { result.add("h" + suffix, h); }
void add(StatesOverTime& result, const std::string& suffix, const LstmState& state) {
  result.add("h" + suffix, state.h);
  result.add("c" + suffix, state.c);
}

/// One cell after the other, each over the h that the one below gives.
template <class Layer> StatesOverTime states_of_cells(const Layer& layer, const Tensor& x) {
  if (layer.options.bidirectional)
    throw ValueError("states_of: the states of a bidirectional layer have no order in time; take one direction");
  StatesOverTime result;
  Tensors steps = steps_of(x);
  for (int k = 0; k < layer.options.layers; ++k) {
    const auto& cell = k == 0 ? layer.cell : layer.further[static_cast<std::size_t>(k) - 1];
    auto state = initial_state(cell, x);
    for (Tensor& step : steps) {
      state = cell(step, state);
      add(result, layer.options.layers == 1 ? std::string() : text(" of layer ", k), state);
      step = h_of(state);
    }
  }
  result.answers = stack(steps, 1);
  return result;
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
  return states_of_cells(layer, x);
}

StatesOverTime states_of(const Gru& layer, const Tensor& x) {
  const Scope scope(&layer, "gru");
  return states_of_cells(layer, x);
}

StatesOverTime states_of(const Lstm& layer, const Tensor& x) {
  const Scope scope(&layer, "lstm");
  return states_of_cells(layer, x);
}

}  // namespace retrace

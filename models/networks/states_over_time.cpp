#include <retrace/models/networks/states_over_time.h>
#include <retrace/nn/recurrent.h>

#include <algorithm>

namespace retrace {
namespace {

Tensor state_of_zeros(const Tensor& x, std::int64_t size) { return zeros({x.dim(0), size}, x.dtype()); }

/// A cell with one state, h' = cell(x, h).
template <class Cell> StatesOverTime states_of_cell(const Cell& cell, const Tensor& x) {
  StatesOverTime result;
  Tensor h = state_of_zeros(x, cell.hidden());
  for (const Tensor& now : steps_of(x)) result.add("h", h = cell(now, h));
  result.answers = stack(result.states.front().values, 1);
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
  return states_of_cell(layer.cell, x);
}

StatesOverTime states_of(const Gru& layer, const Tensor& x) {
  const Scope scope(&layer, "gru");
  return states_of_cell(layer.cell, x);
}

StatesOverTime states_of(const Lstm& layer, const Tensor& x) {
  const Scope scope(&layer, "lstm");
  StatesOverTime result;
  LstmState state{state_of_zeros(x, layer.cell.hidden()), state_of_zeros(x, layer.cell.hidden())};
  for (const Tensor& now : steps_of(x)) {
    state = layer.cell(now, state);
    result.add("h", state.h);
    result.add("c", state.c);
  }
  result.answers = stack(result.states.front().values, 1);
  return result;
}

}  // namespace retrace

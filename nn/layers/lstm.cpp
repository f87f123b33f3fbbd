#include <retrace/nn/layers/lstm.h>

#include <optional>
#include <utility>

namespace retrace {
namespace {

// Each gate is initialised as a matrix of its own.
template <class Block> Tensor four_blocks(Block&& block) {
  Tensors blocks;
  for (int gate = 0; gate < 4; ++gate) blocks.push_back(block());
  return concat(blocks, 0);
}

Tensor forget_bias_one(std::int64_t hidden) {
  return concat({zeros({hidden}), ones({hidden}), zeros({2 * hidden})}, 0);
}

}  // namespace

LstmCell::LstmCell(std::int64_t input, std::int64_t hidden, Random& random, BiasOptions with)
    : weight_ih(
          four_blocks([&, block = gate_shape("LstmCell", 4, input, hidden)] { return glorot_uniform(block, random); })),
      weight_hh(four_blocks([&] { return orthogonal(hidden, hidden, random); })),
      bias(with.bias ? forget_bias_one(hidden) : Tensor()) {}

LstmState LstmCell::step(const Tensor& projected, const LstmState& state) const {
  LstmStep next = lstm_step(projected, state.h, state.c, weight_hh);
  return {std::move(next.h), std::move(next.c)};
}

LstmState LstmCell::zero_state(std::int64_t batch) const {
  return {zeros({batch, hidden()}, weight_hh.dtype()), zeros({batch, hidden()}, weight_hh.dtype())};
}

LstmState LstmCell::operator()(const Tensor& x, const LstmState& state) const {
  const Scope scope(this, "lstm_cell");
  check_input("LstmCell", x, 2, input());
  check_state("LstmCell", "h", state.h, x.dim(0), hidden());
  check_state("LstmCell", "c", state.c, x.dim(0), hidden());
  return step(linear(x, weight_ih, bias), state);
}

Lstm::Lstm(std::int64_t input, std::int64_t hidden, Random& random, const RecurrentOptions& layers)
    : options(checked_options("Lstm", layers)),
      cell(input, hidden, random, {layers.bias}),
      further(make_further_cells<LstmCell>(input, hidden, layers, [&](std::int64_t features) {
        return LstmCell(features, hidden, random, {layers.bias});
      })) {}

LstmResult Lstm::operator()(const Tensor& x, const LstmState& state, const Tensor& lengths, Random* random) const {
  const Scope scope(this, "lstm");
  check_input("Lstm", x, 3, cell.input());
  const int cells = cells_of(options);
  const Shape shape{x.dim(0), cell.hidden()};
  for (const auto& [role, part] : {std::pair("h", state.h), std::pair("c", state.c)})
    if (part.defined()) check_states("Lstm", role, part, cells, x.dim(0), cell.hidden());
  Tensors last_h, last_c;
  Tensor y = run_layers(x, options, lengths, random, [&](int k, const Tensor& input) {
    const LstmCell& own = k == 0 ? cell : further[static_cast<std::size_t>(k) - 1];
    std::optional<Scope> own_scope;
    if (k > 0) own_scope.emplace(&own, "lstm_cell");
    const Dtype dtype = own.weight_hh.dtype();
    const Tensor h = state_of_cell(state.h, k, cells, shape, dtype), c = state_of_cell(state.c, k, cells, shape, dtype);
    LstmSequence sequence = lstm_sequence(linear(input, own.weight_ih, own.bias), h, c, own.weight_hh, lengths);
    last_h.push_back(std::move(sequence.h)), last_c.push_back(std::move(sequence.c));
    return std::move(sequence.y);
  });
  return {std::move(y), {states_of_cells(last_h), states_of_cells(last_c)}};
}

}  // namespace retrace

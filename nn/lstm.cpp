#include <retrace/nn/lstm.h>

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

LstmCell::LstmCell(std::int64_t input, std::int64_t hidden, Random& random)
    : weight_ih(
          four_blocks([&, block = gate_shape("LstmCell", 4, input, hidden)] { return glorot_uniform(block, random); })),
      weight_hh(four_blocks([&] { return orthogonal(hidden, hidden, random); })),
      bias(forget_bias_one(hidden)) {}

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

LstmResult Lstm::operator()(const Tensor& x, const LstmState& state, const Tensor& lengths) const {
  const Scope scope(this, "lstm");
  check_input("Lstm", x, 3, cell.input());
  const auto given_or_zero = [&](const char* role, const Tensor& part) {
    if (!part.defined()) return zeros({x.dim(0), cell.hidden()}, cell.weight_hh.dtype());
    check_state("Lstm", role, part, x.dim(0), cell.hidden());
    return part;
  };
  const Tensor first_h = given_or_zero("h", state.h), first_c = given_or_zero("c", state.c);
  auto [y, h, c] = lstm_sequence(linear(x, cell.weight_ih, cell.bias), first_h, first_c, cell.weight_hh, lengths);
  return {std::move(y), {std::move(h), std::move(c)}};
}

}  // namespace retrace

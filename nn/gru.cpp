#include <retrace/nn/gru.h>

namespace retrace {
namespace {

template <class Block> Tensor three_blocks(Block&& block) {
  Tensors blocks;
  for (int gate = 0; gate < 3; ++gate) blocks.push_back(block());
  return concat(blocks, 0);
}

}  // namespace

GruCell::GruCell(std::int64_t input, std::int64_t hidden, Random& random)
    : weight_ih(
          three_blocks([&, block = gate_shape("GruCell", 3, input, hidden)] { return glorot_uniform(block, random); })),
      weight_hh(three_blocks([&] { return orthogonal(hidden, hidden, random); })),
      bias_ih(zeros({3 * hidden})),
      bias_hh(zeros({3 * hidden})) {}

Tensor GruCell::step(const Tensor& projected, const Tensor& h) const {
  return gru_step(projected, h, weight_hh, bias_hh);
}

Tensor GruCell::operator()(const Tensor& x, const Tensor& h) const {
  const Scope scope(this, "gru_cell");
  check_input("GruCell", x, 2, weight_ih.dim(1));
  check_state("GruCell", "h", h, x.dim(0), hidden());
  return step(linear(x, weight_ih, bias_ih), h);
}

GruResult Gru::operator()(const Tensor& x, const Tensor& h, const Tensor& lengths) const {
  const Scope scope(this, "gru");
  check_input("Gru", x, 3, cell.weight_ih.dim(1));
  if (h.defined()) check_state("Gru", "h", h, x.dim(0), cell.hidden());
  const Tensor first = h.defined() ? h : zeros({x.dim(0), cell.hidden()}, cell.weight_hh.dtype());
  auto [y, last] = gru_sequence(linear(x, cell.weight_ih, cell.bias_ih), first, cell.weight_hh, cell.bias_hh, lengths);
  return {std::move(y), std::move(last)};
}

}  // namespace retrace

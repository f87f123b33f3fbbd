#include <retrace/nn/layers/gru.h>

#include <optional>
#include <utility>

namespace retrace {
namespace {

template <class Block> Tensor three_blocks(Block&& block) {
  Tensors blocks;
  for (int gate = 0; gate < 3; ++gate) blocks.push_back(block());
  return concat(blocks, 0);
}

}  // namespace

GruCell::GruCell(std::int64_t input, std::int64_t hidden, Random& random, BiasOptions with, GruReset placed)
    : weight_ih(
          three_blocks([&, block = gate_shape("GruCell", 3, input, hidden)] { return glorot_uniform(block, random); })),
      weight_hh(three_blocks([&] { return orthogonal(hidden, hidden, random); })),
      bias_ih(with.bias ? zeros({3 * hidden}) : Tensor()),
      bias_hh(with.bias ? zeros({3 * hidden}) : Tensor()),
      reset(placed) {}

Tensor GruCell::step(const Tensor& projected, const Tensor& h) const {
  return gru_step(projected, h, weight_hh, bias_hh, reset);
}

Tensor GruCell::operator()(const Tensor& x, const Tensor& h) const {
  const Scope scope(this, "gru_cell");
  check_input("GruCell", x, 2, weight_ih.dim(1));
  check_state("GruCell", "h", h, x.dim(0), hidden());
  return step(linear(x, weight_ih, bias_ih), h);
}

Gru::Gru(std::int64_t input, std::int64_t hidden, Random& random, const RecurrentOptions& layers, GruReset reset)
    : options(checked_options("Gru", layers)),
      cell(input, hidden, random, {layers.bias}, reset),
      further(make_further_cells<GruCell>(input, hidden, layers, [&](std::int64_t features) {
        return GruCell(features, hidden, random, {layers.bias}, reset);
      })) {}

GruResult Gru::operator()(const Tensor& x, const Tensor& h, const Tensor& lengths, Random* random) const {
  const Scope scope(this, "gru");
  check_input("Gru", x, 3, cell.weight_ih.dim(1));
  const int cells = cells_of(options);
  if (h.defined()) check_states("Gru", "h", h, cells, x.dim(0), cell.hidden());
  Tensors last;
  Tensor y = run_layers(x, options, lengths, random, [&](int k, const Tensor& input) {
    const GruCell& own = k == 0 ? cell : further[static_cast<std::size_t>(k) - 1];
    std::optional<Scope> own_scope;
    if (k > 0) own_scope.emplace(&own, "gru_cell");
    const Tensor first = state_of_cell(h, k, cells, {x.dim(0), own.hidden()}, own.weight_hh.dtype());
    RnnSequence sequence =
        gru_sequence(linear(input, own.weight_ih, own.bias_ih), first, own.weight_hh, own.bias_hh, lengths, own.reset);
    last.push_back(std::move(sequence.h));
    return std::move(sequence.y);
  });
  return {std::move(y), states_of_cells(last)};
}

}  // namespace retrace

#include <retrace/nn/layers/rnn.h>

#include <optional>
#include <utility>

namespace retrace {

Tensor RnnCell::step(const Tensor& projected, const Tensor& h) const {
  return rnn_step(projected, h, weight_hh, activation);
}

Tensor RnnCell::operator()(const Tensor& x, const Tensor& h) const {
  const Scope scope(this, "rnn_cell");
  check_input("RnnCell", x, 2, weight_ih.dim(1));
  check_state("RnnCell", "h", h, x.dim(0), hidden());
  return step(linear(x, weight_ih, bias), h);
}

Rnn::Rnn(std::int64_t input, std::int64_t hidden, Random& random, Activation activation, const RecurrentOptions& layers)
    : options(checked_options("Rnn", layers)),
      cell(input, hidden, random, activation, {layers.bias}),
      further(make_further_cells<RnnCell>(input, hidden, layers, [&](std::int64_t features) {
        return RnnCell(features, hidden, random, activation, {layers.bias});
      })) {
  if (activation != Activation::tanh && activation != Activation::relu)
    throw ValueError("Rnn: the activation must be tanh or relu; step an RnnCell for another");
}

RnnResult Rnn::operator()(const Tensor& x, const Tensor& h, const Tensor& lengths, Random* random) const {
  const Scope scope(this, "rnn");
  check_input("Rnn", x, 3, cell.weight_ih.dim(1));
  const int cells = cells_of(options);
  if (h.defined()) check_states("Rnn", "h", h, cells, x.dim(0), cell.hidden());
  Tensors last;
  Tensor y = run_layers(x, options, lengths, random, [&](int k, const Tensor& input) {
    const RnnCell& own = k == 0 ? cell : further[static_cast<std::size_t>(k) - 1];
    std::optional<Scope> own_scope;
    if (k > 0) own_scope.emplace(&own, "rnn_cell");
    const Tensor first = state_of_cell(h, k, cells, {x.dim(0), own.hidden()}, own.weight_hh.dtype());
    RnnSequence sequence =
        rnn_sequence(linear(input, own.weight_ih, own.bias), first, own.weight_hh, own.activation, lengths);
    last.push_back(std::move(sequence.h));
    return std::move(sequence.y);
  });
  return {std::move(y), states_of_cells(last)};
}

}  // namespace retrace

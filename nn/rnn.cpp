#include <retrace/nn/rnn.h>

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

Rnn::Rnn(std::int64_t input, std::int64_t hidden, Random& random, Activation activation)
    : cell(input, hidden, random, activation) {
  if (activation != Activation::tanh && activation != Activation::relu)
    throw ValueError("Rnn: the activation must be tanh or relu; step an RnnCell for another");
}

RnnResult Rnn::operator()(const Tensor& x, const Tensor& h, const Tensor& lengths) const {
  const Scope scope(this, "rnn");
  check_input("Rnn", x, 3, cell.weight_ih.dim(1));
  if (h.defined()) check_state("Rnn", "h", h, x.dim(0), cell.hidden());
  const Tensor first = h.defined() ? h : zeros({x.dim(0), cell.hidden()}, cell.weight_hh.dtype());
  auto [y, last] = rnn_sequence(linear(x, cell.weight_ih, cell.bias), first, cell.weight_hh, cell.activation, lengths);
  return {std::move(y), std::move(last)};
}

}  // namespace retrace

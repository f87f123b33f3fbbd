// Modules with the weights of a case.
#pragma once

#include <retrace/nn/nn.h>
#include <retrace/tests/golden_test/adapters.h>

namespace retrace::golden {

/// Uses a value itself as a parameter, not a copy, so that gradients flow through it to its own inputs.
inline void place(Parameter& parameter, const Tensor& value) { static_cast<Tensor&>(parameter) = value; }

/// A Linear of weight [out, in] and, unless undefined, bias [out].
inline Linear make_linear(const Tensor& weight, const Tensor& bias) {
  Random random;
  Linear result(weight.dim(1), weight.dim(0), random, {.bias = bias.defined()});
  place(result.weight, weight);
  if (bias.defined()) place(*result.bias, bias);
  return result;
}

/// The rows of W_f, W_i, W_c, W_o and so on, with a prefix, in the order i, f, g, o of an Lstm.
inline Tensor lstm_rows(const Arguments& c, const std::string& prefix) {
  Tensors rows;
  for (const char* gate : {"i", "f", "c", "o"}) rows.push_back(c[prefix + gate]);
  return concat(rows);
}
inline Lstm make_lstm(const Tensor& weight_ih, const Tensor& weight_hh, const Tensor& bias) {
  Random random;
  Lstm result(weight_ih.dim(1), weight_hh.dim(1), random);
  place(result.cell.weight_ih, weight_ih);
  place(result.cell.weight_hh, weight_hh);
  place(result.cell.bias, bias);
  return result;
}
/// The LSTM of W_{f,i,c,o}, U_{f,i,c,o} and b_{f,i,c,o}, all with a prefix.
inline Lstm make_lstm(const Arguments& c, const std::string& prefix = "") {
  return make_lstm(lstm_rows(c, prefix + "W_"), lstm_rows(c, prefix + "U_"), lstm_rows(c, prefix + "b_"));
}

}  // namespace retrace::golden

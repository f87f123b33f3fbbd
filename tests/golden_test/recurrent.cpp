#include <algorithm>

#include <retrace/tests/golden_test/modules.h>

namespace retrace::golden {
namespace {

Rnn make_rnn(const Arguments& c) {
  const std::string name = c.attribute("act", "tanh");
  if (name != "tanh" && name != "relu") throw Unsupported("no activation " + name);
  Random random;
  Rnn result(c["W"].dim(1), c["W"].dim(0), random, name == "tanh" ? Activation::tanh : Activation::relu);
  place(result.cell.weight_ih, c["W"]);
  place(result.cell.weight_hh, c["U"]);
  place(result.cell.bias, c["b"]);
  return result;
}
NamedTensors run_rnn_cell(const Arguments& c) { return {{"h2", make_rnn(c).cell(c["x"], c["h"])}}; }
NamedTensors run_rnn(const Arguments& c) {
  const RnnResult result = make_rnn(c)(c["x"], c.optional("h0"));
  return {{"y", result.y}, {"hT", result.h}};
}

NamedTensors run_lstm_cell(const Arguments& c) {
  const LstmState next = make_lstm(c).cell(c["x"], {c["h"], c["c"]});
  return {{"h2", next.h}, {"c2", next.c}};
}

LstmState first_state(const Arguments& c) { return {c.optional("h0"), c.optional("c0")}; }

NamedTensors named(const LstmResult& result, const Tensor& y) {
  return {{"y", y}, {"hT", result.state.h}, {"cT", result.state.c}};
}

NamedTensors run_lstm(const Arguments& c) {
  const LstmResult result = make_lstm(c)(c["x"], first_state(c));
  return named(result, c.flag("last_only") ? slice(result.y, {all, -1}) : result.y);
}
NamedTensors run_lstm_proj(const Arguments& c) {
  const LstmResult result = make_lstm(c)(c["x"], first_state(c));
  return named(result, make_linear(c["W_out"], c.optional("b_out"))(result.y));
}
NamedTensors run_lstm_tbptt(const Arguments& c) {
  const Lstm lstm = make_lstm(c);
  const std::int64_t steps = c["x"].dim(1), chunk = c.integer("chunk");
  LstmState state = first_state(c);
  LstmResult part;
  Tensors outputs;
  for (std::int64_t t = 0; t < steps; t += chunk) {
    part = lstm(slice(c["x"], {all, range(t, std::min(t + chunk, steps))}), state);
    outputs.push_back(part.y);
    state = {part.state.h.detach(), part.state.c.detach()};
  }
  return named(part, concat(outputs, 1));
}
NamedTensors run_lstm_packed(const Arguments& c) {
  const LstmResult result = make_lstm(c["W_ih"], c["W_hh"], c["b_ih"] + c["b_hh"])(c["x"], first_state(c));
  return named(result, result.y);
}

/// The rows i, f, o, g of a matrix or vector as i, f, g, o.
Tensor with_last_gates_exchanged(const Tensor& rows) {
  const std::int64_t hidden = rows.dim(0) / 4;
  const Tensors parts = split(rows, {2 * hidden, hidden, hidden});
  return concat({parts[0], parts[2], parts[1]});
}
NamedTensors run_lstm_fused(const Arguments& c) {
  const Tensor weight = with_last_gates_exchanged(transpose(c["W"]));  // [4H, I + H]
  const std::int64_t inputs = c["x"].dim(-1);
  const Lstm lstm = make_lstm(slice(weight, {all, range(0, inputs)}), slice(weight, {all, range(inputs)}),
                              with_last_gates_exchanged(c["b"]));
  const LstmResult result = lstm(c["x"], first_state(c));
  return named(result, result.y);
}

Gru make_gru(const Arguments& c) {
  Random random;
  Gru result(c["W_ih"].dim(1), c["W_hh"].dim(1), random);
  place(result.cell.weight_ih, c["W_ih"]);
  place(result.cell.weight_hh, c["W_hh"]);
  place(result.cell.bias_ih, c["b_ih"]);
  place(result.cell.bias_hh, c["b_hh"]);
  return result;
}
NamedTensors run_gru_cell(const Arguments& c) { return {{"h2", make_gru(c).cell(c["x"], c["h"])}}; }
NamedTensors run_gru(const Arguments& c) {
  const GruResult result = make_gru(c)(c["x"], c.optional("h0"));
  return {{"y", result.y}, {"hT", result.h}};
}

}  // namespace

Adapters recurrent_adapters() {
  return {{"rnn_cell", run_rnn_cell},       {"rnn", run_rnn},
          {"lstm_cell", run_lstm_cell},     {"lstm", run_lstm},
          {"lstm_proj", run_lstm_proj},     {"lstm_tbptt", run_lstm_tbptt},
          {"lstm_packed", run_lstm_packed}, {"lstm_fused", run_lstm_fused},
          {"gru_cell", run_gru_cell},       {"gru", run_gru}};
}

}  // namespace retrace::golden

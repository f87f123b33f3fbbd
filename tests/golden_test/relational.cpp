#include <retrace/tests/golden_test/relational_modules.h>

namespace retrace::golden {

CellMemory make_cell_memory(const Arguments& c, const std::string& prefix, std::int64_t slots,
                            std::int64_t input_size) {
  const auto weight = [&](const char* name) { return c[prefix + name]; };
  const auto projection = [&](const std::string& name) {
    return make_linear(c[prefix + "W_" + name], c.optional(prefix + "b_" + name));
  };
  Random random;
  CellMemory result(input_size, random,
                    {.slots = slots,
                     .slot_size = weight("W_q").dim(0),
                     .heads = static_cast<int>(c.integer("heads")),
                     .initial = InitialMemory::zeros});
  place(result.w_q, weight("W_q"));
  place(result.w_k, weight("W_k"));
  place(result.w_v, weight("W_v"));
  place(result.w_o, weight("W_o"));
  if (c.has(prefix + "W_input"))
    result.input.emplace(projection("input"));
  else
    result.input.reset();
  if (c.has(prefix + "W_gate")) result.gate = projection("gate");
  result.update = projection("update");
  return result;
}

RelationalRNNCell make_relational_cell(const Arguments& c, std::int64_t slots) {
  const std::int64_t hidden = c["lstm_U_f"].dim(1);
  Random random;
  RelationalRNNCell result(c["lstm_W_f"].dim(1), hidden, random,
                           {.slots = slots,
                            .slot_size = c["mem_W_q"].dim(0),
                            .heads = static_cast<int>(c.integer("heads")),
                            .initial = InitialMemory::zeros});
  result.lstm = make_lstm(c, "lstm_");
  result.memory.memory = make_cell_memory(c, "mem_", slots, hidden);
  result.read = make_linear(c["W_read"], c.optional("b_read"));
  result.combine = make_linear(c["W_comb"], c.optional("b_comb"));
  return result;
}

RelationalRNN make_relational_rnn(const Arguments& c) {
  Random random;
  const std::int64_t slots = c.integer("slots");
  RelationalRNN result(c["lstm_W_f"].dim(1), c["lstm_U_f"].dim(1), c["W_out"].dim(0), random,
                       {.slots = slots,
                        .slot_size = c["mem_W_q"].dim(0),
                        .heads = static_cast<int>(c.integer("heads")),
                        .initial = InitialMemory::zeros});
  result.cell = make_relational_cell(c, slots);
  result.out = make_linear(c["W_out"], c.optional("b_out"));
  return result;
}

namespace {

NamedTensors run_cell_memory(const Arguments& c) {
  const Tensor& memory = c["M"];
  const Tensor x = c.optional("x");
  const CellMemory module = make_cell_memory(c, "", memory.dim(1), x.defined() ? x.dim(-1) : memory.dim(-1));
  return {{"M2", module(memory, x).memory}};
}

NamedTensors run_cell(const Arguments& c) {
  const RelationalRNNCell cell = make_relational_cell(c, c["M"].dim(1));
  const auto [y, state] = cell(c["x"], {{c["h"], c["c"]}, c["M"]});
  return {{"y", y}, {"h2", state.lstm.h}, {"c2", state.lstm.c}, {"M2", state.memory}};
}

NamedTensors run_rnn(const Arguments& c) {
  const RelationalRNN model = make_relational_rnn(c);
  const auto [z, state] = c.flag("last_only") ? model.last(c["x"]) : model(c["x"]);
  return {{"z", z}, {"hT", state.lstm.h}, {"cT", state.lstm.c}, {"MT", state.memory}};
}

void place_attention(auto& memory, const Tensor& w_q, const Tensor& w_k, const Tensor& w_v, const Tensor& w_o) {
  place(memory.w_q, w_q);
  place(memory.w_k, w_k);
  place(memory.w_v, w_v);
  place(memory.w_o, w_o);
}

RelationalMemory make_relational_memory(const Arguments& c, std::int64_t slots) {
  const std::int64_t size = c["W_q"].dim(0);
  const double eps = c.number("eps");
  Random random;
  const DtypeScope scope(c.dtype());
  RelationalMemory result(c.has("W_in") ? c["W_in"].dim(0) : size, random,
                          {.slots = slots,
                           .slot_size = size,
                           .heads = static_cast<int>(c.integer("heads")),
                           .input = c.has("W_mix") ? MemoryInput::combination : MemoryInput::none,
                           .gate = c.has("W_gate"),
                           .eps = eps});
  place_attention(result, c["W_q"], c["W_k"], c["W_v"], c["W_o"]);
  place(result.norm.weight, c["ln1_gamma"]);
  place(result.norm.bias, c["ln1_beta"]);
  if (c.has("W_in")) place(*result.w_input, c["W_in"]);
  if (result.w_combine) {
    place(*result.w_combine, c["W_mix"]);
    place(result.input_norm->weight, c["lnx_gamma"]);
    place(result.input_norm->bias, c["lnx_beta"]);
  }
  if (result.w_gate) place(*result.w_gate, c["W_gate"]);
  return result;
}

NamedTensors run_relational_memory(const Arguments& c) {
  const auto [memory, weights, gates] = make_relational_memory(c, c["M"].dim(1))(c["M"], c.optional("x"));
  return {{"M2", memory}, {"w", weights}};
}

NamedTensors run_relational_memory_over_time(const Arguments& c) {
  const RelationalMemory module = make_relational_memory(c, c["M0"].dim(1));
  Tensor memory = c["M0"];
  Tensors states;
  for (std::int64_t t = 0; t < c["x"].dim(1); ++t)
    states.push_back(memory = module(memory, slice(c["x"], {all, t})).memory);
  return {{"M", stack(states, 1)}};
}

/// The matrices [H, d, k] of all heads side by side: [d, H k].
Tensor side_by_side(const Tensor& heads) {
  return reshape(transpose(heads, {1, 0, 2}), {heads.dim(1), heads.dim(0) * heads.dim(2)});
}

NotebookMemory make_notebook_memory(const Arguments& c, std::int64_t slots) {
  const auto linear_of = [&](const std::string& name) {
    return make_linear(transpose(c["W_" + name]), c["b_" + name]);
  };
  Random random;
  NotebookMemory result(random,
                        {.slots = slots, .slot_size = c["W_o"].dim(0), .heads = static_cast<int>(c.integer("heads"))});
  place_attention(result, side_by_side(c["W_q"]), side_by_side(c["W_k"]), side_by_side(c["W_v"]), c["W_o"]);
  result.mlp_hidden = linear_of("mlp1");
  result.mlp_out = linear_of("mlp2");
  result.input_gate = linear_of("gate_i");
  result.forget_gate = linear_of("gate_f");
  result.output_gate = linear_of("gate_o");
  return result;
}

NamedTensors run_notebook_memory(const Arguments& c) {
  const NotebookMemoryResult step = make_notebook_memory(c, c["M"].dim(1))(c["M"], c["x"]);
  return {{"M2", step.memory}, {"y", step.y}};
}

NamedTensors run_notebook_memory_over_time(const Arguments& c) {
  const NotebookMemory module = make_notebook_memory(c, c["M0"].dim(1));
  Tensor memory = c["M0"];
  Tensors outputs;
  for (std::int64_t t = 0; t < c["x"].dim(1); ++t) {
    const NotebookMemoryResult step = module(memory, slice(c["x"], {all, t}));
    outputs.push_back(step.y);
    const bool detach = c.flag("detach") && t + 1 < c["x"].dim(1);
    memory = detach ? step.memory.detach() : step.memory;
  }
  return {{"y", stack(outputs, 1)}, {"MT", memory}};
}

}  // namespace

Adapters relational_adapters() {
  return {{"relmem_a", run_relational_memory},
          {"relmem_a_seq", run_relational_memory_over_time},
          {"relmem_b", run_cell_memory},
          {"relmem_c", run_notebook_memory},
          {"relmem_c_seq", run_notebook_memory_over_time},
          {"rel_rnn_cell", run_cell},
          {"rel_rnn", run_rnn}};
}

}  // namespace retrace::golden

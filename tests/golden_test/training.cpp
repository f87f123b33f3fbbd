// Whole training runs: losses, norms of gradients and the weights at the end.
#include <limits>

#include <retrace/tests/golden_test/optimizers.h>
#include <retrace/tests/golden_test/relational_modules.h>

namespace retrace::golden {
namespace {

/// Trains a module for the steps of the case; returns "loss" and "grad_norm" of each step, before its update.
template <Module M, class Loss> NamedTensors train(const Arguments& c, const M& module, const Loss& loss_of) {
  for_each_parameter(module, [](const Path&, const Tensor& x) { x.watch(); });
  const double most =
      c.attribute("clip", "none") == "none" ? std::numeric_limits<double>::infinity() : c.number("clip");
  Tensors losses, norms;
  with_optimizer(c.attribute("optimiser"), c, parameters(module), [&](auto& optimizer) {
    for (std::int64_t step = 0; step < c.integer("steps"); ++step) {
      Tape tape;
      const Tensor loss = loss_of(module);
      tape.backward(loss);
      losses.push_back(loss.detach());
      norms.push_back(full({}, clip_norm(module, most), f64));
      optimizer.step();
    }
  });
  return {{"loss", stack(losses)}, {"grad_norm", stack(norms)}};
}

struct Mlp {
  Linear hidden, out;
  Tensor operator()(const Tensor& x) const { return out(tanh(hidden(x))); }
  void visit(auto&& see) const { see("hidden", hidden), see("out", out); }
};

NamedTensors run_train_mlp(const Arguments& c) {
  const Mlp model{make_linear(c["W1"], c["b1"]), make_linear(c["W2"], c["b2"])};
  NamedTensors result = train(c, model, [&](const Mlp& mlp) { return cross_entropy(mlp(c["x"]), c["t"]); });
  result.insert(
      {{"W1", model.hidden.weight}, {"b1", *model.hidden.bias}, {"W2", model.out.weight}, {"b2", *model.out.bias}});
  return result;
}

/// The rows i, f, g, o of an Lstm's parameter as <prefix>i, <prefix>f, <prefix>c, <prefix>o.
void take_apart(const Tensor& rows, const std::string& prefix, NamedTensors& result) {
  std::int64_t gate = 0;
  const std::int64_t hidden = rows.dim(0) / 4;
  for (const char* name : {"i", "f", "c", "o"}) {
    result.emplace(prefix + name, slice(rows, {range(gate * hidden, (gate + 1) * hidden)}));
    ++gate;
  }
}

NamedTensors run_train_rel_rnn(const Arguments& c) {
  const RelationalRNN model = make_relational_rnn(c);
  NamedTensors result = train(c, model, [&](const RelationalRNN& rnn) { return mse(rnn(c["x"]).y, c["t"]); });
  const LstmCell& lstm = model.cell.lstm.cell;
  take_apart(lstm.weight_ih, "lstm_W_", result);
  take_apart(lstm.weight_hh, "lstm_U_", result);
  take_apart(lstm.bias, "lstm_b_", result);
  for (const auto& [name, leaf] : c.inputs()) result.emplace(name, leaf);  // all others are parameters themselves
  return result;
}

struct CoreClassifier {
  RelationalMemoryCore core;
  Linear out;
  Tensor operator()(const Tensor& x) const {
    const std::int64_t batch = x.dim(0);
    Tensor memory = core.initial_memory(batch);
    for (std::int64_t t = 0; t < x.dim(1); ++t) memory = core(memory, slice(x, {all, t})).memory;
    return out(reshape(memory, {batch, memory.dim(1) * memory.dim(2)}));
  }
  void visit(auto&& see) const { see("core", core), see("out", out); }
};

NamedTensors run_train_core(const Arguments& c) {
  const CoreClassifier model{make_memory_core(c, c.integer("slots"), 1),
                             make_linear(transpose(c["W_cls"]), c["b_cls"])};
  NamedTensors result = train(c, model, [&](const CoreClassifier& m) { return cross_entropy(m(c["x"]), c["t"]); });
  const auto give_back = [&](const std::string& name, const Linear& layer) {
    result.emplace("W_" + name, transpose(layer.weight));
    result.emplace("b_" + name, *layer.bias);
  };
  give_back("cls", model.out);
  give_back("in", model.core.input);
  give_back("gate_in", *model.core.gate_of_input);
  give_back("gate_mem", *model.core.gate_of_memory);
  for (std::size_t k = 0; k < model.core.mlp.size(); ++k) give_back("mlp" + std::to_string(k), model.core.mlp[k]);
  for (std::size_t k = 0; k < model.core.blocks.size(); ++k) {
    const std::string prefix = "blk" + std::to_string(k) + "_";
    result.emplace(prefix + "W_qkv", transpose(model.core.blocks[k].qkv.weight));
  }
  for (const auto& [name, leaf] : c.inputs()) result.emplace(name, leaf);  // all others are parameters themselves
  return result;
}

}  // namespace

Adapters training_adapters() {
  return {{"train_mlp", run_train_mlp}, {"train_rel_rnn", run_train_rel_rnn}, {"train_rmc", run_train_core}};
}

}  // namespace retrace::golden

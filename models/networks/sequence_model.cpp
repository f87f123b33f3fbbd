#include <retrace/models/formats/nearest_name.h>
#include <retrace/models/networks/attention_model.h>
#include <retrace/models/networks/registry.h>
#include <retrace/models/networks/relational_rnn.h>
#include <retrace/models/networks/rmc_model.h>
#include <retrace/models/networks/sequence_model.h>
#include <retrace/nn/gru.h>
#include <retrace/nn/lstm.h>
#include <retrace/nn/rnn.h>

#include <array>
#include <utility>

namespace retrace {
namespace {

const Tensor& last_h(const LstmResult& result) { return result.state.h; }
const Tensor& last_h(const GruResult& result) { return result.h; }
const Tensor& last_h(const RnnResult& result) { return result.h; }

/// A baseline: a recurrent layer and W_out h_T + b_out.
template <class Recurrent> struct Baseline {
  Recurrent recurrent;
  Linear out;

  Baseline(const ModelSizes& sizes, Random& random)
      : recurrent(sizes.input, sizes.hidden, random), out(sizes.hidden, sizes.output, random) {}
  Tensor operator()(const Tensor& x) const { return out(last_h(recurrent(x))); }
  Tensor answers(const Tensor& x, std::int64_t count) const { return out(last_steps(recurrent(x).y, count)); }
  void visit(auto&& see) const { see("recurrent", recurrent), see("out", out); }
};

MemoryKind memory_kind(std::string_view name) {
  if (name == "cell") return MemoryKind::cell;
  if (name == "gated") return MemoryKind::gated;
  if (name == "notebook") return MemoryKind::notebook;
  throw ValueError(unknown_name("make_model", "memory", name, memory_names()));
}

/// The last answers of a RelationalRNN.
struct RelationalModel {
  RelationalRNN network;

  RelationalModel(const ModelSizes& sizes, Random& random)
      : network(sizes.input, sizes.hidden, sizes.output, random,
                {.kind = memory_kind(sizes.memory),
                 .slots = sizes.slots,
                 .slot_size = sizes.slot_size,
                 .heads = sizes.heads,
                 .gate = sizes.parts.gate != MemoryGate::none}) {}
  Tensor operator()(const Tensor& x) const { return network.last(x).y; }
  Tensor answers(const Tensor& x, std::int64_t count) const { return network.answers(x, count).y; }
  MemoryTrace trace(const Tensor& x) const { return network.trace(x); }
  void visit(auto&& see) const { network.visit(see); }
};

RmcModelOptions rmc_options(const ModelSizes& sizes) {
  RelationalMemoryCoreOptions core{.slots = sizes.slots,
                                   .head_size = sizes.slot_size / sizes.heads,
                                   .heads = sizes.heads,
                                   .residual = sizes.parts.residual,
                                   .layer_norm = sizes.parts.layer_norm,
                                   .gate = sizes.parts.gate};
  if (!sizes.parts.attention_mlp) core.mlp_layers = 0;
  return {.input = sizes.input, .output = sizes.output, .core = core};
}

AttentionModelOptions attention_options(const ModelSizes& sizes) {
  return {.input = sizes.input, .output = sizes.output, .size = sizes.hidden, .longest = sizes.time};
}

constexpr std::array<std::string_view, 6> library_models{"lstm", "gru", "rnn", "relational-rnn", "rmc", "attention"};

Registry<ModelFactory>& registered() {
  static Registry<ModelFactory> models("register_model", "make_model", "model", library_models);
  return models;
}

}  // namespace

Tensor answers_to_prefixes(const SequenceModel& model, const Tensor& x, std::int64_t count) {
  check_last_steps(x, count);
  Tensors answers;
  for (std::int64_t time = x.dim(1) - count + 1; time <= x.dim(1); ++time) {
    const Tensor answer = model(slice(x, {all, range(0, time)}));
    answers.push_back(reshape(answer, {answer.dim(0), 1, answer.dim(-1)}));
  }
  return concat(answers, 1);
}

void register_model(std::string_view name, ModelFactory factory) {
  if (!factory) throw ValueError(text("register_model: the factory of '", name, "' is empty; give a function"));
  registered().add(name, std::move(factory));
}

std::span<const std::string_view> model_names() { return registered().names().all(); }

std::span<const std::string_view> registered_model_names() { return registered().names().added(); }

std::span<const std::string_view> memory_names() {
  static constexpr std::array<std::string_view, 3> names{"cell", "gated", "notebook"};
  return names;
}

std::unique_ptr<SequenceModel> make_model(std::string_view name, const ModelSizes& sizes, Random& random) {
  if (name == "lstm") return std::make_unique<SequenceModelOf<Baseline<Lstm>>>(sizes, random);
  if (name == "gru") return std::make_unique<SequenceModelOf<Baseline<Gru>>>(sizes, random);
  if (name == "rnn") return std::make_unique<SequenceModelOf<Baseline<Rnn>>>(sizes, random);
  if (name == "relational-rnn") return std::make_unique<SequenceModelOf<RelationalModel>>(sizes, random);
  if (name == "rmc") return std::make_unique<SequenceModelOf<RmcModel>>(rmc_options(sizes), random);
  if (name == "attention") return std::make_unique<SequenceModelOf<AttentionModel>>(attention_options(sizes), random);
  std::unique_ptr<SequenceModel> model = registered().find(name)(sizes, random);
  if (model == nullptr) throw ValueError(text("make_model: the factory of '", name, "' made no model; return one"));
  return model;
}

}  // namespace retrace

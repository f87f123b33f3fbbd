// Training steps of whole models: forward + backward + Adam on a fixed batch. growth_MB (training_step.h) is valid for
// a case that runs alone.
#include <retrace/benchmarks/measured_models.h>
#include <retrace/benchmarks/memory_core.h>
#include <retrace/benchmarks/recurrent_cases.h>
#include <retrace/benchmarks/training_step.h>
#include <retrace/models/networks/relational_rnn.h>

namespace retrace {
namespace {

template <class Layer>
void time_recurrent(benchmark::State& state, const RecurrentCase& n, std::int64_t gates, InputGradient gradient) {
  Random random(1);
  const Tagger<Layer> model(n.input, n.hidden, n.output, random);
  const Tensor x = random.normal({n.batch, n.steps, n.input}), target = random.normal({n.batch, n.steps, n.output});
  if (gradient == InputGradient::wanted) x.watch();
  time_training_steps(
      state, model, [&] { return mse(model(x), target); }, flops_of(n, gates, gradient));
}

void time_attention(benchmark::State& state, std::int64_t batch, std::int64_t length, std::int64_t size, int heads,
                    bool causal) {
  Random random(1);
  const SelfAttention model(size, heads, random);
  const Tensor x = random.normal({batch, length, size}).watch(), target = random.normal({batch, length, size});
  time_training_steps(
      state, model, [&] { return mse(model(x, causal), target); },
      6 * static_cast<double>(batch * length * size * (4 * size + 2 * length)));
}

void time_relational_rnn(benchmark::State& state, std::int64_t batch) {
  constexpr std::int64_t size = 64, input = 32, slots = 4, steps = 20, output = 16;
  Random random(1);
  const RelationalRNN model(input, size, output, random,
                            {.slots = slots, .slot_size = size, .heads = 2, .initial = InitialMemory::zeros});
  const Tensor x = random.normal({batch, steps, input}), target = random.normal({batch, steps, output});
  const double a_step = static_cast<double>(4 * size * (input + size) + slots * 7 * size * size +
                                            2 * slots * slots * size + 3 * size * size + size * output);
  time_training_steps(
      state, model, [&] { return mse(model(x).y, target); }, 6 * static_cast<double>(batch * steps) * a_step);
}

template <class Model> void time_memory_core(benchmark::State& state, std::int64_t batch) {
  Random random(1);
  const Model model(random);
  const Tensor x = random.uniform({batch, farthest_steps, farthest_input}, -1, 1);
  const Tensor labels = zeros({batch}, i64);
  for (std::int64_t& label : labels.mutable_values<std::int64_t>()) label = random.integer(farthest_classes);
  time_training_steps(
      state, model, [&] { return cross_entropy(model(x), labels); }, static_cast<double>(batch) * Model::flops);
}

/// Adam alone, on existing gradients.
template <class Model> void time_adam(benchmark::State& state, const Model& model) {
  Adam adam(model);
  for (const NamedTensor& parameter : parameters(model)) {
    Tape tape;
    tape.backward(sum(parameter.tensor * parameter.tensor));
  }
  for (auto _ : state) {
    adam.step();
    for (const NamedTensor& parameter : parameters(model)) parameter.tensor.reuse_grad();
  }
}

template <class Layer> void add_recurrent(const std::string& layer, const RecurrentCase& n, std::int64_t gates) {
  for (const InputGradient gradient : {InputGradient::not_wanted, InputGradient::wanted})
    add_case(name_of(layer, n, gradient),
             [=](benchmark::State& state) { time_recurrent<Layer>(state, n, gates, gradient); });
}

const bool registered = [] {
  for (const RecurrentCase& n : recurrent_cases) {
    add_recurrent<Lstm>("lstm_fused", n, 4);
    add_recurrent<Gru>("gru_fused", n, 3);
    add_recurrent<Rnn>("rnn_tanh", n, 1);
  }
  for (const bool causal : {false, true}) {
    const std::string suffix = causal ? "_causal" : "";
    add_case("mha_hand_b32_s64_d64_h4" + suffix,
             [causal](benchmark::State& state) { time_attention(state, 32, 64, 64, 4, causal); });
    add_case("mha_hand_b8_s256_d256_h8" + suffix,
             [causal](benchmark::State& state) { time_attention(state, 8, 256, 256, 8, causal); });
  }
  for (const std::int64_t batch : {2, 32})
    add_case(text("relrnn_i32_h64_slots4_s20_b", batch),
             [batch](benchmark::State& state) { time_relational_rnn(state, batch); });
  for (const std::int64_t batch : {32, 256, 1600}) {
    add_case(text("rmc_nth_b", batch),
             [batch](benchmark::State& state) { time_memory_core<JointNormCore>(state, batch); });
    add_case(text("rmc_canonical_b", batch),
             [batch](benchmark::State& state) { time_memory_core<CanonicalCore>(state, batch); });
  }
  add_case("adam_only_lstm_i32_h64", [](benchmark::State& state) {
    Random random(1);
    time_adam(state, Tagger<Lstm>(32, 64, 16, random));
  });
  add_case("adam_only_rmc", [](benchmark::State& state) {
    Random random(1);
    time_adam(state, JointNormCore(random));
  });
  return true;
}();

}  // namespace
}  // namespace retrace

// How time and memory of a training step grow with a size: of the batch, the state, the sequence, the memory; and how
// the time shrinks with threads. growth_MB (training_step.h) is valid for a case that runs alone: growth.py runs each
// so, and computes exponents. host_threads is the number of threads that each train a model of their own,
// single-threaded; steps_a_second is their total.
#include <string>
#include <vector>

#include <retrace/benchmarks/measured_models.h>
#include <retrace/benchmarks/training_step.h>
#include <retrace/core/base/threads_scope.h>
#include <retrace/models/networks/rmc_model.h>

namespace retrace {
namespace {

struct RecurrentSizes {
  std::int64_t batch = 32, hidden = 64, steps = 20;
};
void time_lstm(benchmark::State& state, const RecurrentSizes& n) {
  Random random(1);
  const Tagger<Lstm> model(32, n.hidden, 16, random);
  const Tensor x = random.normal({n.batch, n.steps, 32}), target = random.normal({n.batch, n.steps, 16});
  time_training_steps(state, model, [&] { return mse(model(x), target); });
}

void time_attention(benchmark::State& state, std::int64_t length) {
  Random random(1);
  const SelfAttention model(64, 4, random);
  const Tensor x = random.normal({4, length, 64}), target = random.normal({4, length, 64});
  time_training_steps(state, model, [&] { return mse(model(x), target); });
}

struct MemorySizes {
  std::int64_t batch = 32, slots = 8, head_size = 16;
};
void time_memory(benchmark::State& state, const MemorySizes& n) {
  Random random(1);
  const RmcModel model({.input = 40, .output = 8, .core = {.slots = n.slots, .head_size = n.head_size, .heads = 4}},
                       random);
  const Tensor x = random.normal({n.batch, 8, 40}), target = random.normal({n.batch, 8});
  time_training_steps(state, model, [&] { return mse(model(x), target); });
}

void time_threads(benchmark::State& state, int count) {
  const ThreadsScope scope(count);
  time_lstm(state, {.batch = 256, .hidden = 256});
}

void host_threads(benchmark::State& state) {
  const ThreadsScope scope(1);
  Random random(1);
  const Tagger<Lstm> model(32, 64, 16, random);
  const Tensor x = random.normal({32, 20, 32}), target = random.normal({32, 20, 16});
  Adam adam(model);
  for (auto _ : state) training_step([&] { return mse(model(x), target); }, adam);
  state.counters["steps_a_second"] =
      benchmark::Counter(static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}
BENCHMARK(host_threads)->ThreadRange(1, 2)->UseRealTime()->Unit(benchmark::kMillisecond);

/// Registers body(state, size) for each of the sizes.
template <class Body> void add_family(const std::string& name, const std::vector<std::int64_t>& sizes, Body body) {
  for (const std::int64_t size : sizes)
    add_case(text(name, ":", size), [=](benchmark::State& state) { body(state, size); });
}

const bool registered = [] {
  using State = benchmark::State;
  add_family("lstm_batch", {1, 4, 16, 64, 256}, [](State& state, std::int64_t n) { time_lstm(state, {.batch = n}); });
  add_family("lstm_hidden", {32, 64, 128, 256, 512},
             [](State& state, std::int64_t n) { time_lstm(state, {.hidden = n}); });
  add_family("lstm_length", {10, 40, 160, 640}, [](State& state, std::int64_t n) { time_lstm(state, {.steps = n}); });
  add_family("attention_length", {16, 64, 256, 1024}, time_attention);
  add_family("memory_core_batch", {1, 4, 16, 64, 256},
             [](State& state, std::int64_t n) { time_memory(state, {.batch = n}); });
  add_family("memory_core_slot_size", {32, 64, 128, 256},
             [](State& state, std::int64_t n) { time_memory(state, {.head_size = n / 4}); });
  add_family("memory_core_slots", {2, 4, 8, 16, 32},
             [](State& state, std::int64_t n) { time_memory(state, {.slots = n}); });
  add_family("threads", {1, 2}, [](State& state, std::int64_t n) { time_threads(state, static_cast<int>(n)); });
  return true;
}();

}  // namespace
}  // namespace retrace

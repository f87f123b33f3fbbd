// How the time of a training step grows with a size: of the batch, the state, the sequence, the memory, and with
// threads. `exponent` is that of time ~ size^exponent between the previous size and this one: 1 is proportional; for
// threads, -1 is ideal. host_threads is the number of threads that each train a model of their own, single-threaded;
// steps_a_second is their total.
#include <chrono>
#include <cmath>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include <retrace/benchmarks/measured_models.h>
#include <retrace/benchmarks/training_step.h>
#include <retrace/core/threads_scope.h>
#include <retrace/models/networks/rmc_model.h>

namespace retrace {
namespace {

/// Seconds per step, by size, for the cases of a family that have run.
using Family = std::map<std::int64_t, double>;

template <class Model, class Loss>
void time_growth(benchmark::State& state, Family& family, std::int64_t size, const Model& model, Loss&& loss) {
  using Clock = std::chrono::steady_clock;
  Adam adam(model);
  training_step(loss, adam);
  const auto start = Clock::now();
  for (auto _ : state) training_step(loss, adam);
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  const auto now = family.insert_or_assign(size, seconds / static_cast<double>(state.iterations())).first;
  if (now == family.begin()) return;
  const auto before = std::prev(now);
  state.counters["exponent"] = std::log(now->second / before->second) /
                               std::log(static_cast<double>(now->first) / static_cast<double>(before->first));
}

struct RecurrentSizes {
  std::int64_t batch = 32, hidden = 64, steps = 20;
};
void time_lstm(benchmark::State& state, Family& family, std::int64_t size, const RecurrentSizes& n) {
  Random random(1);
  const Tagger<Lstm> model(32, n.hidden, 16, random);
  const Tensor x = random.normal({n.batch, n.steps, 32}), target = random.normal({n.batch, n.steps, 16});
  time_growth(state, family, size, model, [&] { return mse(model(x), target); });
}

void time_attention(benchmark::State& state, Family& family, std::int64_t length) {
  Random random(1);
  const SelfAttention model(64, 4, random);
  const Tensor x = random.normal({4, length, 64}), target = random.normal({4, length, 64});
  time_growth(state, family, length, model, [&] { return mse(model(x), target); });
}

struct MemorySizes {
  std::int64_t batch = 32, slots = 8, head_size = 16;
};
void time_memory(benchmark::State& state, Family& family, std::int64_t size, const MemorySizes& n) {
  Random random(1);
  const RmcModel model({.input = 40, .output = 8, .core = {.slots = n.slots, .head_size = n.head_size, .heads = 4}},
                       random);
  const Tensor x = random.normal({n.batch, 8, 40}), target = random.normal({n.batch, 8});
  time_growth(state, family, size, model, [&] { return mse(model(x), target); });
}

void time_threads(benchmark::State& state, Family& family, int count) {
  const ThreadsScope scope(count);
  time_lstm(state, family, count, {.batch = 256, .hidden = 256});
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

/// Registers body(state, family, size) for each of the sizes.
template <class Body> void add_family(const std::string& name, const std::vector<std::int64_t>& sizes, Body body) {
  static std::map<std::string, Family> families;
  for (const std::int64_t size : sizes)
    add_case(text(name, ":", size), [=](benchmark::State& state) { body(state, families[name], size); });
}

const bool registered = [] {
  using State = benchmark::State;
  add_family("lstm_batch", {1, 4, 16, 64, 256},
             [](State& state, Family& f, std::int64_t n) { time_lstm(state, f, n, {.batch = n}); });
  add_family("lstm_hidden", {32, 64, 128, 256, 512},
             [](State& state, Family& f, std::int64_t n) { time_lstm(state, f, n, {.hidden = n}); });
  add_family("lstm_length", {10, 40, 160, 640},
             [](State& state, Family& f, std::int64_t n) { time_lstm(state, f, n, {.steps = n}); });
  add_family("attention_length", {16, 64, 256, 1024}, time_attention);
  add_family("memory_core_batch", {1, 4, 16, 64, 256},
             [](State& state, Family& f, std::int64_t n) { time_memory(state, f, n, {.batch = n}); });
  add_family("memory_core_slot_size", {32, 64, 128, 256},
             [](State& state, Family& f, std::int64_t n) { time_memory(state, f, n, {.head_size = n / 4}); });
  add_family("memory_core_slots", {2, 4, 8, 16, 32},
             [](State& state, Family& f, std::int64_t n) { time_memory(state, f, n, {.slots = n}); });
  add_family("threads", {1, 2},
             [](State& state, Family& f, std::int64_t n) { time_threads(state, f, static_cast<int>(n)); });
  return true;
}();

}  // namespace
}  // namespace retrace

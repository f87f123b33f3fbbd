// What the tape costs an op: `add` of one-element tensors in chains of a thousand. `forward` records, `backward` walks,
// `step` does both and frees the tape; `ns_an_op` is the figure to read.
#include <chrono>

#include <benchmark/benchmark.h>

#include <retrace/ops/ops.h>

namespace retrace {
namespace {

constexpr int length = 1000;
using Clock = std::chrono::steady_clock;

Tensor chain(const Tensor& x) {
  Tensor y = x;
  for (int k = 0; k < length; ++k) y = add(y, x);
  return y;
}

enum class Part { forward, backward, step };

void add_chain(benchmark::State& state, Part part) {
  const Tensor x = parameter(tensor({1.0}));
  double total = 0;
  for (auto _ : state) {
    const auto start = Clock::now();
    auto recorded = start, walked = start;
    {
      Tape tape;
      const Tensor y = chain(x);
      recorded = Clock::now();
      tape.backward(y);
      walked = Clock::now();
    }
    const auto first = part == Part::backward ? recorded : start;
    const auto last = part == Part::forward ? recorded : part == Part::backward ? walked : Clock::now();
    const double seconds = std::chrono::duration<double>(last - first).count();
    state.SetIterationTime(seconds);
    total += seconds;
  }
  state.counters["ns_an_op"] = total * 1e9 / length / static_cast<double>(state.iterations());
}

BENCHMARK_CAPTURE(add_chain, forward, Part::forward)->UseManualTime();
BENCHMARK_CAPTURE(add_chain, backward, Part::backward)->UseManualTime();
BENCHMARK_CAPTURE(add_chain, step, Part::step)->UseManualTime();

}  // namespace
}  // namespace retrace

// The overhead of the tape per op, in chains of a thousand ops; the result is `ns_an_op`. add_chain is `add` of
// one-element tensors: `forward` records, `backward` walks, `step` does both and frees the tape. overhead_chain1000_*
// are training steps of ops of four elements, where one operand is constant.
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

template <class Op> void time_chain(benchmark::State& state, Op&& op) {
  const Tensor x = parameter(tensor({0.1, 0.2, 0.3, 0.4})), k = full({4}, 0.999), cotangent = ones({4});
  for (auto _ : state) {
    x.zero_grad();
    Tape tape;
    Tensor y = x;
    for (int n = 0; n < length; ++n) y = op(y, k);
    tape.backward({y}, {cotangent});
  }
  state.counters["ns_an_op"] =
      benchmark::Counter(length * 1e-9, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

void overhead_chain1000_add(benchmark::State& state) {
  time_chain(state, [](const Tensor& y, const Tensor& k) { return add(y, k); });
}
void overhead_chain1000_mul(benchmark::State& state) {
  time_chain(state, [](const Tensor& y, const Tensor& k) { return mul(y, k); });
}
void overhead_chain1000_tanh(benchmark::State& state) {
  time_chain(state, [](const Tensor& y, const Tensor&) { return tanh(y); });
}
BENCHMARK(overhead_chain1000_add);
BENCHMARK(overhead_chain1000_mul);
BENCHMARK(overhead_chain1000_tanh);

}  // namespace
}  // namespace retrace

// Shared by the benchmarks of models.
#pragma once

#include <string>

#include <sys/resource.h>

#include <benchmark/benchmark.h>

#include <retrace/nn/nn.h>

namespace retrace {

/// The peak memory of this process, in millions of bytes.
inline double peak_megabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) * 1024e-6;
}

/// Forward + backward + Adam.
template <class Loss> void training_step(Loss&& loss, Adam& adam) {
  Tape tape;
  tape.backward(loss());
  adam.step();
}

/// Times steps of forward + backward + Adam on a fixed batch. `loss` gives the loss of the model on it; flops are those
/// of a step (3 x forward, products and attention only), and become the counter GFLOPS.
template <class Model, class Loss>
void time_training_steps(benchmark::State& state, const Model& model, Loss&& loss, double flops) {
  Adam adam(model);
  const double before = peak_megabytes();
  for (int step = 0; step < 2; ++step) training_step(loss, adam);
  state.counters["growth_MB"] = peak_megabytes() - before;
  for (auto _ : state) training_step(loss, adam);
  state.counters["GFLOPS"] = benchmark::Counter(flops * 1e-9, benchmark::Counter::kIsIterationInvariantRate);
}

/// Registers body(state) as the case `name`.
template <class Body> void add_case(const std::string& name, Body&& body) {
  benchmark::RegisterBenchmark(name.c_str(), std::forward<Body>(body))->UseRealTime()->Unit(benchmark::kMillisecond);
}

}  // namespace retrace

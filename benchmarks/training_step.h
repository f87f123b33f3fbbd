// Shared by the benchmarks of models.
#pragma once

#include <string>

#include <benchmark/benchmark.h>

#include <retrace/core/tensor/memory.h>
#include <retrace/nn/nn.h>

namespace retrace {

/// Forward + backward + Adam.
template <class Loss> void training_step(Loss&& loss, Adam& adam) {
  Tape tape;
  tape.backward(loss());
  adam.step();
}

/// Times steps of forward + backward + Adam on a fixed batch; `loss` gives the loss of the model on it. The counter
/// growth_MB is what steps need beyond the model and the batch, in millions of bytes: gradients, Adam's moments and
/// what a step saves. It is valid for a case that runs alone.
template <class Model, class Loss> void time_training_steps(benchmark::State& state, const Model& model, Loss&& loss) {
  const MemoryStats before = memory_stats();
  Adam adam(model);
  for (int step = 0; step < 2; ++step) training_step(loss, adam);
  state.counters["growth_MB"] = static_cast<double>(memory_stats().peak_bytes - before.live_bytes) * 1e-6;
  for (auto _ : state) training_step(loss, adam);
}

/// The same; `flops` are those of a step (of products and attention only), and become the counter GFLOPS.
template <class Model, class Loss>
void time_training_steps(benchmark::State& state, const Model& model, Loss&& loss, double flops) {
  time_training_steps(state, model, loss);
  state.counters["GFLOPS"] = benchmark::Counter(flops * 1e-9, benchmark::Counter::kIsIterationInvariantRate);
}

/// Registers body(state) as the case `name`.
template <class Body> void add_case(const std::string& name, Body&& body) {
  benchmark::RegisterBenchmark(name.c_str(), std::forward<Body>(body))->UseRealTime()->Unit(benchmark::kMillisecond);
}

}  // namespace retrace

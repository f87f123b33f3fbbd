// What the benchmarks of models share.
#pragma once

#include <string>

#include <benchmark/benchmark.h>

#include <retrace/nn/nn.h>

namespace retrace {

/// Times steps of forward + backward + Adam on a fixed batch. `loss` gives the loss of the model on it; flops are those
/// of a step (3 x forward, products and attention only), and become the counter GFLOPS.
template <class Model, class Loss>
void time_training_steps(benchmark::State& state, const Model& model, Loss&& loss, double flops) {
  Adam adam(model);
  for (auto _ : state) {
    Tape tape;
    tape.backward(loss());
    adam.step();
  }
  state.counters["GFLOPS"] = benchmark::Counter(flops * 1e-9, benchmark::Counter::kIsIterationInvariantRate);
}

/// Registers body(state) as the case `name`.
template <class Body>
void add_case(const std::string& name, Body&& body) {
  benchmark::RegisterBenchmark(name.c_str(), std::forward<Body>(body))->UseRealTime()->Unit(benchmark::kMillisecond);
}

}  // namespace retrace

// The machine's limits, with the number of threads that OpenMP uses: fused multiply-adds in registers, and
// z = x + a y in three arrays that have this number of KiB together (bytes are those that the program reads and
// writes).
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

namespace {

#ifdef __AVX512F__
constexpr int vector_bytes = 64;
#else
constexpr int vector_bytes = 32;
#endif

/// Twelve sums hide the latency of a multiply-add, and fit in the sixteen registers of AVX2 with the two factors.
template <class T> void multiply_adds(std::int64_t rounds) {
  typedef T Vector __attribute__((vector_size(vector_bytes)));
  Vector factor = Vector{} + T(0.999), term = Vector{} + T(1e-3);
  benchmark::DoNotOptimize(factor);
  benchmark::DoNotOptimize(term);
  // They start from different numbers, because the compiler would compute equal sums once.
  Vector s0{}, s1 = s0 + T(1), s2 = s0 + T(2), s3 = s0 + T(3), s4 = s0 + T(4), s5 = s0 + T(5);
  Vector s6 = s0 + T(6), s7 = s0 + T(7), s8 = s0 + T(8), s9 = s0 + T(9), s10 = s0 + T(10), s11 = s0 + T(11);
  for (std::int64_t k = 0; k < rounds; ++k) {
    s0 = s0 * factor + term, s1 = s1 * factor + term, s2 = s2 * factor + term, s3 = s3 * factor + term;
    s4 = s4 * factor + term, s5 = s5 * factor + term, s6 = s6 * factor + term, s7 = s7 * factor + term;
    s8 = s8 * factor + term, s9 = s9 * factor + term, s10 = s10 * factor + term, s11 = s11 * factor + term;
  }
  Vector sum = s0 + s1 + s2 + s3 + s4 + s5 + s6 + s7 + s8 + s9 + s10 + s11;
  benchmark::DoNotOptimize(sum);
}

template <class T> void peak_fma(benchmark::State& state) {
  constexpr std::int64_t rounds = 1 << 20;
  int threads = 0;
  for (auto _ : state) {
    threads = 0;
#pragma omp parallel reduction(+ : threads)
    {
      multiply_adds<T>(rounds);
      threads += 1;
    }
  }
  const double flops = 2.0 * 12 * vector_bytes / sizeof(T) * static_cast<double>(rounds * threads);
  state.counters["GFLOPS"] = benchmark::Counter(1e-9 * flops, benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(peak_fma<float>)->Name("peak_fma_f32")->UseRealTime();
BENCHMARK(peak_fma<double>)->Name("peak_fma_f64")->UseRealTime();

void peak_bandwidth(benchmark::State& state) {
  const std::int64_t count = state.range(0) * 1024 / 3 / 4, passes = (1 << 22) / count + 1;
  const std::size_t size = static_cast<std::size_t>(count);
  std::vector<float> x(size, 1), y(size, 2), z(size);
  float a = 3;
  for (auto _ : state) {
    benchmark::DoNotOptimize(a);
    float *from = x.data(), *scaled = y.data(), *to = z.data();
#pragma omp parallel
    for (std::int64_t pass = 0; pass < passes; ++pass) {
#pragma omp for simd schedule(static)
      for (std::int64_t k = 0; k < count; ++k) to[k] = from[k] + a * scaled[k];
      benchmark::ClobberMemory();
    }
  }
  state.counters["GBs"] =
      benchmark::Counter(12e-9 * static_cast<double>(count * passes), benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(peak_bandwidth)->RangeMultiplier(4)->Range(64, 256 << 10)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace

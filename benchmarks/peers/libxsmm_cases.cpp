// LIBXSMM in the cases of gemm_benchmark that it is made for: its kernels, compiled for their sizes at run time, hold
// whole products. One thread.
#include <cstdint>
#include <memory>
#include <random>
#include <string>

#include <benchmark/benchmark.h>
#include <libxsmm.h>

#include <retrace/benchmarks/product_cases.h>

namespace retrace {
namespace {

constexpr double most_flops = 2.0 * 128 * 128 * 128;  // of one product

/// Aligned normal numbers.
class Numbers {
 public:
  explicit Numbers(std::int64_t count)
      : first_(static_cast<float*>(libxsmm_aligned_malloc(static_cast<std::size_t>(count) * sizeof(float), 64)),
               libxsmm_free) {
    std::mt19937 engine(1);
    std::normal_distribution<float> normal;
    for (std::int64_t k = 0; k < count; ++k) (*this)[k] = normal(engine);
  }
  float& operator[](std::int64_t k) const { return first_.get()[k]; }

 private:
  std::unique_ptr<float, void (*)(const void*)> first_;
};

/// LIBXSMM stores columns, so that rows of C = A B are computed as C^T = B^T A^T. Its kernels transpose their second
/// factor only; the first one is transposed before.
void time_product(benchmark::State& state, const ProductCase& product) {
  const int m = static_cast<int>(product.m), n = static_cast<int>(product.n), k = static_cast<int>(product.k);
  const Numbers a(product.batch * m * k), b(product.batch * k * n), c(product.batch * m * n), b_by_rows(n * k);
  const int width_of_a = product.transpose_a ? m : k;
  const float alpha = 1, beta = 0;
  const int flags = product.transpose_a ? LIBXSMM_GEMM_FLAG_TRANS_B : LIBXSMM_GEMM_FLAG_NONE;
  const libxsmm_smmfunction multiply =
      libxsmm_smmdispatch(n, m, k, &n, &width_of_a, &n, &alpha, &beta, &flags, nullptr);
  if (multiply == nullptr) return state.SkipWithError("LIBXSMM has no kernel of this size");
  for (auto _ : state)
    for (std::int64_t p = 0; p < product.batch; ++p) {
      const float* from = &b[p * k * n];
      if (product.transpose_b) {
        libxsmm_otrans(&b_by_rows[0], from, sizeof(float), static_cast<unsigned>(k), static_cast<unsigned>(n),
                       static_cast<unsigned>(k), static_cast<unsigned>(n));
        from = &b_by_rows[0];
      }
      multiply(from, &a[p * m * k], &c[p * m * n]);
    }
  state.counters["GFLOPS"] = benchmark::Counter(1e-9 * product.flops(), benchmark::Counter::kIsIterationInvariantRate);
}

const bool registered = [] {
  benchmark::AddCustomContext("library", "LIBXSMM " LIBXSMM_VERSION);
  for (const ProductCase& product : product_cases()) {
    if (product.flops() > most_flops * static_cast<double>(product.batch)) continue;
    const auto run = [=](benchmark::State& state) { time_product(state, product); };
    benchmark::RegisterBenchmark(product.name.c_str(), run)->UseRealTime()->Unit(benchmark::kMillisecond);
  }
  return true;
}();

}  // namespace
}  // namespace retrace

// Matrix products C = op(A) op(B) as kernels::gemm runs them, in the shapes of square products, of layers forward and
// backward, and of the heads of attention. NN, NT, TN: which factor is stored transposed.
#include <cstdint>
#include <span>
#include <string>

#include <benchmark/benchmark.h>

#include <retrace/benchmarks/product_cases.h>
#include <retrace/core/base/error.h>
#include <retrace/core/tensor/tensor.h>
#include <retrace/ops/kernels/gemm.h>

namespace retrace {
namespace {

/// Uses the allocator of tensors, because a vector that crosses a cache line costs two loads.
template <class T> Tensor numbers(std::int64_t count) {
  Tensor result = empty({count}, dtype_of<T>);
  const std::span<T> values = result.mutable_values<T>();
  for (std::size_t k = 0; k < values.size(); ++k) values[k] = static_cast<T>(k * 2654435761U % 1000) / 1000 - T(0.5);
  return result;
}

template <class T> void time_product(benchmark::State& state, const ProductCase& product) {
  const auto& [name, m, n, k, batch, transpose_a, transpose_b] = product;
  const Tensor a = numbers<T>(batch * m * k), b = numbers<T>(batch * k * n), c = zeros({batch * m * n}, dtype_of<T>);
  T* to = c.mutable_values<T>().data();
  for (auto _ : state) {
    kernels::gemm<T>({m, n, k, batch}, {a.values<T>().data(), transpose_a ? m : k, transpose_a, m * k},
                     {b.values<T>().data(), transpose_b ? k : n, transpose_b, k * n}, {to, n, m * n});
    benchmark::ClobberMemory();
  }
  state.counters["GFLOPS"] = benchmark::Counter(1e-9 * product.flops(), benchmark::Counter::kIsIterationInvariantRate);
}

template <class T> void add_product(const ProductCase& product) {
  const auto run = [=](benchmark::State& state) { time_product<T>(state, product); };
  benchmark::RegisterBenchmark(product.name.c_str(), run)->UseRealTime()->Unit(benchmark::kMillisecond);
}

const bool registered = [] {
  for (const ProductCase& product : product_cases()) add_product<float>(product);
  for (const std::int64_t size : square_sizes) add_product<double>({text("mm_f64_", size), size, size, size});
  return true;
}();

}  // namespace
}  // namespace retrace

// Matrix products C = op(A) op(B) as kernels::gemm runs them, in the shapes of square products, of layers forward and
// backward, and of the heads of attention. NN, NT, TN: which factor is stored transposed.
#include <cstdint>
#include <span>
#include <string>

#include <benchmark/benchmark.h>

#include <retrace/core/error.h>
#include <retrace/core/tensor.h>
#include <retrace/ops/kernels/gemm.h>

namespace retrace {
namespace {

using kernels::GemmShape;

/// Uses the allocator of tensors, because a vector that crosses a cache line costs two loads.
template <class T> Tensor numbers(std::int64_t count) {
  Tensor result = empty({count}, dtype_of<T>);
  const std::span<T> values = result.mutable_values<T>();
  for (std::size_t k = 0; k < values.size(); ++k) values[k] = static_cast<T>(k * 2654435761U % 1000) / 1000 - T(0.5);
  return result;
}

template <class T>
void time_product(benchmark::State& state, const GemmShape& shape, bool transpose_a, bool transpose_b) {
  const auto [m, n, k, batch] = shape;
  const Tensor a = numbers<T>(batch * m * k), b = numbers<T>(batch * k * n), c = zeros({batch * m * n}, dtype_of<T>);
  T* to = c.mutable_values<T>().data();
  for (auto _ : state) {
    kernels::gemm<T>(shape, {a.values<T>().data(), transpose_a ? m : k, transpose_a, m * k},
                     {b.values<T>().data(), transpose_b ? k : n, transpose_b, k * n}, {to, n, m * n});
    benchmark::ClobberMemory();
  }
  state.counters["GFLOPS"] =
      benchmark::Counter(2e-9 * static_cast<double>(m * n * k * batch), benchmark::Counter::kIsIterationInvariantRate);
}

template <class T>
void add_product(const std::string& name, const GemmShape& shape, bool transpose_a = false, bool transpose_b = false) {
  const auto run = [=](benchmark::State& state) { time_product<T>(state, shape, transpose_a, transpose_b); };
  benchmark::RegisterBenchmark(name.c_str(), run)->UseRealTime()->Unit(benchmark::kMillisecond);
}

const bool registered = [] {
  for (const std::int64_t size : {64, 128, 256, 512, 1024, 2048}) {
    add_product<float>(text("mm_f32_", size), {size, size, size});
    add_product<double>(text("mm_f64_", size), {size, size, size});
  }
  // y = x W for m rows, n outputs and k inputs, and its backward dx = dy W^T, dW = x^T dy.
  for (const auto& [m, n, k, batch] : {GemmShape{32, 256, 64}, GemmShape{32, 1024, 256}, GemmShape{128, 768, 256},
                                       GemmShape{1600, 256, 256}, GemmShape{14400, 768, 256}}) {
    add_product<float>(text("mm_NN_", m, "x", n, "x", k), {m, n, k});
    add_product<float>(text("mm_NT_", m, "x", k, "x", n), {m, k, n}, false, true);
    add_product<float>(text("mm_TN_", k, "x", n, "x", m), {k, n, m}, true, false);
  }
  // Many small products: q k^T, p v and dv = p^T dy for rows of 9 (a relational memory) and of 64.
  for (const std::int64_t rows : {9, 64}) {
    const std::int64_t heads = rows == 9 ? 512 : 256;
    add_product<float>(text("bmm_attn", rows, "_qkt"), {rows, rows, 32, heads}, false, true);
    add_product<float>(text("bmm_attn", rows, "_pv"), {rows, 32, rows, heads});
    add_product<float>(text("bmm_attn", rows, "_dv"), {rows, 32, rows, heads}, true, false);
  }
  return true;
}();

}  // namespace
}  // namespace retrace

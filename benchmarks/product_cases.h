// The products of f32 matrices that are measured, by gemm_benchmark and by the benchmarks of other libraries.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace retrace {

inline constexpr std::int64_t square_sizes[] = {64, 128, 256, 512, 1024, 2048};

/// `batch` products C [m, n] = A [m, k] B [k, n], whose factors may be stored transposed.
struct ProductCase {
  std::string name;
  std::int64_t m, n, k, batch = 1;
  bool transpose_a = false, transpose_b = false;

  double flops() const { return 2 * static_cast<double>(m * n * k * batch); }
};

inline std::string name_of_product(const std::string& kind, std::int64_t m, std::int64_t n, std::int64_t k) {
  return "mm_" + kind + "_" + std::to_string(m) + "x" + std::to_string(n) + "x" + std::to_string(k);
}

inline std::vector<ProductCase> product_cases() {
  std::vector<ProductCase> cases;
  for (const std::int64_t size : square_sizes) cases.push_back({"mm_f32_" + std::to_string(size), size, size, size});
  // y = x W for m rows, n outputs and k inputs, and its backward dx = dy W^T, dW = x^T dy.
  struct Layer {
    std::int64_t m, n, k;
  };
  for (const auto& [m, n, k] : {Layer{32, 256, 64}, Layer{32, 1024, 256}, Layer{128, 768, 256}, Layer{1600, 256, 256},
                                Layer{14400, 768, 256}}) {
    cases.push_back({name_of_product("NN", m, n, k), m, n, k});
    cases.push_back({name_of_product("NT", m, k, n), m, k, n, 1, false, true});
    cases.push_back({name_of_product("TN", k, n, m), k, n, m, 1, true, false});
  }
  // Many small products: q k^T, p v and dv = p^T dy for rows of 9 (a relational memory) and of 64.
  for (const std::int64_t rows : {9, 64}) {
    const std::int64_t heads = rows == 9 ? 512 : 256;
    const std::string name = "bmm_attn" + std::to_string(rows);
    cases.push_back({name + "_qkt", rows, rows, 32, heads, false, true});
    cases.push_back({name + "_pv", rows, 32, rows, heads});
    cases.push_back({name + "_dv", rows, 32, rows, heads, true, false});
  }
  return cases;
}

}  // namespace retrace

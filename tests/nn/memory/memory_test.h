// Helpers of the tests of the relational memories.
#pragma once

#include <gtest/gtest.h>

#include <cmath>

#include <retrace/nn/nn.h>
#include <retrace/tests/compare.h>
#include <retrace/tests/ops/gradient_support.h>

namespace retrace {

/// Sets values that differ from the initial ones, so that an omitted gain or a bias added twice shows.
inline void scatter(const auto& module, Random& random) {
  for (const NamedTensor& parameter : parameters(module))
    copy_values(random.normal(parameter.tensor.shape(), 0.3, 0.4), parameter.tensor);
}

/// softmax(q k^T / sqrt(dk)) v in each head, composed of slices and products.
inline Tensor attended(const Tensor& x, int heads, const auto& w) {
  const std::int64_t size = x.dim(-1) / heads;
  Tensors parts;
  for (int head = 0; head < heads; ++head) {
    const auto part = [&](const Tensor& weight) {
      return slice(matmul(x, weight), {all, all, range(head * size, (head + 1) * size)});
    };
    const Tensor scores = matmul(part(w.w_q), part(w.w_k), {.transpose_b = true});
    parts.push_back(matmul(softmax(scores / std::sqrt(static_cast<double>(size))), part(w.w_v)));
  }
  return matmul(concat(parts, -1), w.w_o);
}

class MemoryTest : public testing::Test {
 protected:
  DtypeScope doubles{f64};
  Random random{7};
};

}  // namespace retrace

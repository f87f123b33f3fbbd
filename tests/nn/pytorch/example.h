// The stored results of PyTorch, and comparisons with them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include <retrace/core/files/safetensors.h>
#include <retrace/nn/nn.h>
#include <retrace/tests/nn/pytorch/layers.h>

namespace retrace {

/// Where the results of PyTorch are: tests/nn/pytorch, or what live_test.py has just made.
inline std::string pytorch_folder() {
  const char* made = std::getenv("RETRACE_PYTORCH_EXAMPLES");
  return made == nullptr ? RETRACE_SOURCE_DIR "/tests/nn/pytorch/" : std::string(made) + "/";
}

/// Expects each output of the example within 1e-6 of ours in f32, 1e-12 in f64, of its largest element where that is
/// above 1; there are `count` outputs.
template <class M>
void expect_outputs_of_pytorch(const M& module, const std::string& file, Dtype dtype, std::size_t count) {
  const NamedTensors example = read_safetensors(pytorch_folder() + file).tensors;
  const std::string kind = dtype == f64 ? "f64." : "f32.";
  const NamedTensors computed = outputs(module, example, dtype);
  for (const auto& [name, y] : computed) {
    ASSERT_TRUE(example.contains(kind + name)) << kind << name;
    const Tensor& expected = example.at(kind + name);
    ASSERT_EQ(y.shape(), expected.shape()) << name;
    EXPECT_EQ(y.dtype(), dtype) << name;
    const double scale = std::max(1.0, max(abs(expected)).item());
    EXPECT_LT(max(abs(y.to(f64) - expected.to(f64))).item(), (dtype == f64 ? 1e-12 : 1e-6) * scale) << kind << name;
  }
  EXPECT_EQ(computed.size(), count);
  std::size_t stored = 0;
  for (const auto& [name, expected] : example) stored += name.starts_with(kind) ? 1 : 0;
  EXPECT_EQ(stored, count) << "each output of the example is compared";
}

}  // namespace retrace

// The recurrent layers that are measured, by the benchmarks of the project and by those of other libraries.
#pragma once

#include <cstdint>
#include <string>

namespace retrace {

/// A layer over sequences, and a linear layer applied to h of every step.
struct RecurrentCase {
  std::int64_t input, hidden, steps, batch;
  static constexpr std::int64_t output = 16;
};
inline constexpr RecurrentCase recurrent_cases[] = {
    {32, 64, 20, 2}, {32, 64, 20, 32}, {128, 512, 35, 20}, {256, 256, 50, 64}, {64, 1024, 25, 64}};

/// Whether the gradient of x is computed, too.
enum class InputGradient { not_wanted, wanted };

inline std::string name_of(const std::string& layer, const RecurrentCase& n, InputGradient gradient) {
  return layer + "_i" + std::to_string(n.input) + "_h" + std::to_string(n.hidden) + "_s" + std::to_string(n.steps) +
         "_b" + std::to_string(n.batch) + (gradient == InputGradient::wanted ? "_dx" : "");
}

/// Floating-point operations of the products of a training step: each product of forward has two in backward, except
/// that of x, where the gradient of x is not wanted.
constexpr double flops_of(const RecurrentCase& n, std::int64_t gates, InputGradient gradient) {
  const std::int64_t of_x = gates * n.hidden * n.input;
  const std::int64_t others = gates * n.hidden * n.hidden + n.hidden * n.output;
  const std::int64_t products = 3 * others + (gradient == InputGradient::wanted ? 3 : 2) * of_x;
  return 2 * static_cast<double>(n.batch * n.steps * products);
}

}  // namespace retrace

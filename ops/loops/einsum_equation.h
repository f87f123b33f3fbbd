// The equation of einsum: which letter stands for which axis.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include <retrace/ops/ops.h>

namespace retrace {

/// The label of an axis: its letter, or 128 + k for the axis of "..." with k others of "..." after it.
using AxisLabel = int;
using AxisLabels = std::vector<AxisLabel>;

inline bool contains(const AxisLabels& labels, AxisLabel label) {
  for (const AxisLabel each : labels)
    if (each == label) return true;
  return false;
}

/// One list of labels per operand, one label per axis, and those of y.
struct EinsumEquation {
  std::vector<AxisLabels> operands;
  AxisLabels y;

  /// Whether y or an operand after number k has the label.
  bool needs_after(std::size_t k, AxisLabel label) const;
};

/// Reads the equation for these operands. Throws as einsum does.
EinsumEquation parse_einsum(std::string_view equation, const Tensors& operands);

}  // namespace retrace

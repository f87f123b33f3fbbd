// How large the gradients of each layer are.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <retrace/nn/module/module.h>

namespace retrace {

/// The norm of the gradients of all parameters of a layer.
struct LayerGradient {
  std::string layer;
  double norm;
};

/// The layer of a parameter: its path up to the second name, with the numbers after it, and without the parameter's
/// own name: "core.blocks.0" of core.blocks.0.qkv.weight, "out" of out.bias, "positions" of positions.
std::string_view layer_of(std::string_view parameter);
/// One norm per layer, in the order of their first parameters. A gradient that is missing or used up counts as zero.
std::vector<LayerGradient> gradient_norms(const std::vector<NamedTensor>& parameters);

}  // namespace retrace

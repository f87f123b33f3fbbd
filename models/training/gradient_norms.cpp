#include <retrace/models/training/gradient_norms.h>
#include <retrace/nn/optim/clip.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace retrace {
namespace {

constexpr double no_limit_of_norm = std::numeric_limits<double>::infinity();

bool is_number(std::string_view name) { return !name.empty() && name.find_first_not_of("0123456789") == name.npos; }

}  // namespace

std::string_view layer_of(std::string_view parameter) {
  const std::size_t last_dot = parameter.rfind('.');
  if (last_dot == parameter.npos) return parameter;
  const std::string_view module = parameter.substr(0, last_dot);
  int names = 0;
  for (std::size_t begin = 0; begin < module.size();) {
    const std::size_t end = std::min(module.find('.', begin), module.size());
    if (!is_number(module.substr(begin, end - begin)) && ++names > 2) return module.substr(0, begin - 1);
    begin = end + 1;
  }
  return module;
}

std::vector<LayerGradient> gradient_norms(const std::vector<NamedTensor>& parameters) {
  std::vector<std::pair<std::string_view, Tensors>> layers;
  for (const NamedTensor& parameter : parameters) {
    const std::string_view name = layer_of(parameter.name);
    auto layer = std::ranges::find(layers, name, &std::pair<std::string_view, Tensors>::first);
    if (layer == layers.end()) layer = layers.insert(layers.end(), {name, {}});
    layer->second.push_back(parameter.tensor);
  }
  std::vector<LayerGradient> norms;
  for (const auto& [name, tensors] : layers) norms.push_back({std::string(name), clip_norm(tensors, no_limit_of_norm)});
  return norms;
}

}  // namespace retrace

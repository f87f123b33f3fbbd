#include <retrace/models/networks/memory_parts.h>

#include <array>

namespace retrace {

std::span<const std::string_view> gate_names() {
  static constexpr std::array<std::string_view, 3> names{"unit", "memory", "none"};
  return names;
}

std::span<const std::string_view> memory_choices(std::string_view model, std::string_view memory) {
  static constexpr std::array<std::string_view, 6> names{"heads",    "slots",      "gate",
                                                         "residual", "layer-norm", "attention-mlp"};
  if (model == "rmc") return names;
  if (model != "relational-rnn") return {};
  return std::span(names).first(memory == "notebook" ? 2 : 3);
}

}  // namespace retrace

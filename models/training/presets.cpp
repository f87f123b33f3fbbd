#include <retrace/models/formats/nearest_name.h>
#include <retrace/models/training/presets.h>

#include <array>

namespace retrace {

std::span<const std::string_view> preset_names() {
  static constexpr std::array<std::string_view, 1> names{"nth-farthest-paper"};
  return names;
}

RunOptions preset(std::string_view name) {
  if (name != preset_names()[0]) throw ValueError(unknown_name("preset", "preset", name, preset_names()));
  RunOptions options{.task = "nth-farthest", .model = {.name = "rmc"}, .task_options = {.vectors = 8, .dims = 16}};
  options.fit.optimizer = "adam";  // Muon, which is the task's, stays with two ranks in 16 dimensions
  options.fit.steps = 280'000;
  options.fit.warm_up = 1.0 / 150;
  options.fit.validate_every = 500;
  return options;
}

}  // namespace retrace

#include <retrace/models/reports/plots/curves.h>

namespace retrace {
namespace {

Curve curve(std::string name, std::span<const Metrics> history, auto&& value) {
  Curve result{.name = std::move(name), .x = {}, .y = {}};
  for (const Metrics& at : history) {
    result.x.push_back(static_cast<double>(at.step));
    result.y.push_back(value(at));
  }
  return result;
}

}  // namespace

Plot loss_curves(std::span<const Metrics> history) {
  return {.title = "loss",
          .x_label = "steps",
          .curves = {curve("training", history, [](const Metrics& at) { return at.loss; }),
                     curve("validation", history, [](const Metrics& at) { return at.validation.loss; })}};
}

Plot metric_curve(std::span<const Metrics> history, std::string_view metric, std::string_view task,
                  std::vector<Level> levels) {
  return {.title = text(metric, " on ", task),
          .x_label = "steps",
          .curves = {curve("validation", history, [](const Metrics& at) { return at.validation.metric; })},
          .levels = std::move(levels)};
}

Plot metric_curve(std::span<const Metrics> history, const Task& task) {
  const Yardsticks yardsticks = task.yardsticks();
  std::vector<Level> levels{{"chance", yardsticks.chance},
                            {std::string(yardsticks.trivial_answer), yardsticks.trivial},
                            {"best possible", yardsticks.ceiling}};
  for (const auto& [answer, value] : yardsticks.shortcuts) levels.push_back({std::string(answer), value});
  return metric_curve(history, metric_name(task.kind()), task.name(), std::move(levels));
}

}  // namespace retrace

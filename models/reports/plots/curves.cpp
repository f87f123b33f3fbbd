#include <retrace/models/reports/plots/curves.h>

#include <filesystem>

namespace retrace {
namespace {

Curve curve(std::string name, std::span<const Metrics> history, auto&& value) {
  Curve result{.name = std::move(name), .x = {}, .y = {}};
  for (const Metrics& metrics : history) {
    result.x.push_back(static_cast<double>(metrics.step));
    result.y.push_back(value(metrics));
  }
  return result;
}

}  // namespace

Plot loss_curves(std::span<const Metrics> history) {
  return {.title = "loss",
          .x_label = "steps",
          .curves = {curve("training", history, [](const Metrics& metrics) { return metrics.loss; }),
                     curve("validation", history, [](const Metrics& metrics) { return metrics.validation.loss; })}};
}

Plot metric_curve(std::span<const Metrics> history, const Run& run) {
  const Baselines baselines = run.baselines();
  Plot plot{.title = text(run.metric(), " on ", std::filesystem::path(run.subject()).filename().string()),
            .x_label = "steps",
            .curves = {curve("validation", history, [](const Metrics& metrics) { return metrics.validation.metric; })},
            .levels = {{"chance", baselines.chance}, {std::string(baselines.trivial_answer), baselines.trivial}}};
  if (run.knows_ceiling()) plot.levels.push_back({"best possible", baselines.ceiling});
  for (const auto& [answer, value] : baselines.shortcuts) plot.levels.push_back({std::string(answer), value});
  return plot;
}

}  // namespace retrace

#include <retrace/models/reports/plots/curves.h>
#include <retrace/models/reports/plots/range.h>

#include <algorithm>
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
  const Baselines baselines = run.task->baselines();
  Plot plot{
      .title = text(name_of(run.task->metric()), " on ", std::filesystem::path(run.subject()).filename().string()),
      .x_label = "steps",
      .curves = {curve("validation", history, [](const Metrics& metrics) { return metrics.validation.metric; })},
      .levels = {{"chance", baselines.chance}, {std::string(baselines.trivial_answer), baselines.trivial}}};
  if (baselines.ceiling) plot.levels.push_back({"best possible", *baselines.ceiling});
  for (const auto& [answer, value] : baselines.shortcuts) plot.levels.push_back({std::string(answer), value});
  return plot;
}

Plot gradient_norm_curve(std::span<const Metrics> history, double clip) {
  Plot plot{
      .title = "gradient norm, before clipping",
      .x_label = "steps",
      .curves = {curve("all weights", history, [](const Metrics& metrics) { return metrics.last_step.gradient_norm; })},
      .log_y = true};
  const Range norms = y_range(plot);
  const double place = y_place(plot, clip);
  if (norms.low <= place && place <= norms.high) plot.levels.push_back({"clipped above", clip});
  return plot;
}

Plot learning_rate_curve(std::span<const Metrics> history) {
  return {.title = "learning rate",
          .x_label = "steps",
          .curves = {
              curve("of each step", history, [](const Metrics& metrics) { return metrics.last_step.learning_rate; })}};
}

Plot layer_gradient_curves(std::span<const Metrics> history) {
  Plot plot{.title = "gradient norm of each layer", .x_label = "steps", .curves = {}, .log_y = true};
  for (const Metrics& metrics : history)
    for (const LayerGradient& each : metrics.last_step.gradient_norms) {
      auto curve = std::ranges::find(plot.curves, each.layer, &Curve::name);
      if (curve == plot.curves.end()) curve = plot.curves.insert(curve, {.name = each.layer, .x = {}, .y = {}});
      curve->x.push_back(static_cast<double>(metrics.step));
      curve->y.push_back(each.norm);
    }
  return plot;
}

std::vector<Plot> training_plots(std::span<const Metrics> history, const Run& run) {
  std::vector<Plot> plots{loss_curves(history), metric_curve(history, run),
                          gradient_norm_curve(history, run.options.fit.clip), learning_rate_curve(history)};
  if (Plot layers = layer_gradient_curves(history); !layers.curves.empty()) plots.push_back(std::move(layers));
  return plots;
}

}  // namespace retrace

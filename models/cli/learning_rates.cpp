#include <retrace/models/cli/learning_rates.h>
#include <retrace/models/formats/digits.h>
#include <retrace/models/formats/json_text.h>
#include <retrace/models/reports/plots/plot.h>

#include <cmath>
#include <ostream>

namespace retrace {
namespace {

std::string json_of(const LearningRateCurve& found) {
  std::vector<JsonObject> points;
  for (const LearningRatePoint& point : found.points)
    points.push_back({{"learning_rate", point.rate}, {"loss", point.loss}, {"smoothed", point.smoothed}});
  return JsonObject{{"suggested", found.suggested}, {"points", points}}.text();
}

Plot plot_of(const LearningRateCurve& found) {
  Curve smoothed{.name = "loss, smoothed", .x = {}, .y = {}};
  for (const LearningRatePoint& point : found.points) {
    smoothed.x.push_back(std::log10(point.rate));
    smoothed.y.push_back(point.smoothed);
  }
  return {.title = "the loss under a rising learning rate", .x_label = "log10 of the rate", .curves = {smoothed}};
}

}  // namespace

void print_learning_rates(const LearningRateCurve& curve, bool as_json, Program& program) {
  if (curve.points.empty()) return;
  if (as_json)
    program.results << json_of(curve) << std::endl;
  else
    program.results << to_text(plot_of(curve)) << "suggested: --learning-rate " << in_digits(curve.suggested, "%.2g")
                    << std::endl;
}

}  // namespace retrace

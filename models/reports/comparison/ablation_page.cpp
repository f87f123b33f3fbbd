// An ablation as a page, and as a table for a terminal.
#include <retrace/models/networks/model_options.h>
#include <retrace/models/reports/comparison/ablation.h>
#include <retrace/models/reports/comparison/comparison_report.h>

#include <algorithm>

namespace retrace {
namespace {

std::vector<Row> table(const Ablation& ablation) {
  const Comparison& comparison = ablation.comparison;
  std::vector<Row> rows{
      {"factor", "setting", "parameters", text("test ", comparison.run->metric()), "minus baseline", "seconds"}};
  for (std::size_t k = 0; k < comparison.results.size(); ++k) {
    const ModelResult& result = comparison.results[k];
    const Variation& variation = ablation.variations.kept[k];
    rows.push_back({variation.factor, k == 0 ? "" : variation.setting, std::to_string(result.parameters),
                    with_half_width(result.value), k == 0 ? "" : with_half_width(result.against_first),
                    in_digits(result.seconds)});
  }
  return rows;
}

std::vector<std::string> terms(const Ablation& ablation) {
  const Variation& baseline = ablation.variations.kept.front();
  std::vector<std::string> lines{text("Baseline: ", full_name(baseline.run.model), ", ", baseline.setting,
                                      "; every other row differs from it in one factor.")};
  for (const std::string& line : budget_in_words(ablation.comparison)) lines.push_back(line);
  for (const std::string& line : ablation.variations.left_out) lines.push_back(line + ".");
  for (const std::string& line : unpassed_lessons_in_words(ablation.comparison)) lines.push_back(line);
  for (const std::string& line : failures_in_words(ablation.comparison)) lines.push_back(line);
  lines.push_back(baselines_in_words(ablation.comparison));
  return lines;
}

std::string title_of(const Ablation& ablation) {
  return text("Parts of ", ablation.variations.kept.front().run.model.name, " on ", ablation.comparison.run->subject());
}

}  // namespace

std::vector<Plot> learning_curves(const Ablation& ablation) {
  const Plot together = learning_curves(ablation.comparison);
  std::vector<Plot> plots;
  for (std::size_t k = 1; k < ablation.variations.kept.size(); ++k) {
    const std::string& factor = ablation.variations.kept[k].factor;
    if (factor != ablation.variations.kept[k - 1].factor) {
      plots.push_back(together);
      plots.back().title += ", " + factor;
      plots.back().curves = {together.curves.front()};
    }
    const std::string& name = ablation.comparison.results[k].name;
    const auto curve = std::ranges::find(together.curves, name, &Curve::name);
    if (curve != together.curves.end()) plots.back().curves.push_back(*curve);
  }
  return plots;
}

std::string to_html(const Ablation& ablation) {
  std::string svg;
  for (const Plot& plot : learning_curves(ablation)) svg += to_svg(plot, 540, 340);
  return html_page(title_of(ablation), svg, table(ablation), terms(ablation));
}

std::string to_text(const Ablation& ablation) { return text_page(table(ablation), terms(ablation)); }

}  // namespace retrace

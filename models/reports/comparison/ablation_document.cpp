// An ablation as a page, as text and as JSON.
#include <retrace/models/networks/model_options.h>
#include <retrace/models/reports/comparison/ablation.h>
#include <retrace/models/reports/comparison/comparison_report.h>

#include <algorithm>

namespace retrace {
namespace {

std::vector<FactRow> fact_rows(const Ablation& ablation) {
  std::vector<FactRow> rows;
  for (std::size_t k = 0; k < ablation.comparison.results.size(); ++k) {
    const ModelResult& result = ablation.comparison.results[k];
    const Variation& variation = ablation.variations.kept[k];
    rows.push_back(
        {{"factor", variation.factor, "factor"},
         {"setting", variation.setting},
         {"", k == 0 ? "" : variation.setting, "setting"},
         {"parameters", result.parameters, "parameters"},
         {"flops_a_sample", result.flops_a_sample},
         {"values", result.values},
         {"value", result.value.mean},
         {"deviation", result.value.deviation},
         {"half_width", result.value.half_width},
         {"", with_half_width(result.value), text("test ", name_of(ablation.comparison.run->task->metric()))},
         {"difference", result.against_first.mean},
         {"difference_half_width", result.against_first.half_width},
         {"", k == 0 ? "" : with_half_width(result.against_first), "minus baseline"},
         {"failures", result.failures},
         {"seconds", result.seconds, "seconds"}});
  }
  return rows;
}

Document document_of(const Ablation& ablation) {
  const Variation& baseline = ablation.variations.kept.front();
  std::vector<std::string> terms{text("Baseline: ", full_name(baseline.run.model), ", ", baseline.setting,
                                      "; every other row differs from it in one factor.")};
  for (const std::string& line : budget_in_words(ablation.comparison)) terms.push_back(line);
  for (const std::string& line : ablation.variations.left_out) terms.push_back(line + ".");
  std::string curves;
  for (const Plot& plot : learning_curves(ablation)) curves += to_svg(plot, 540, 340);
  return comparison_document(ablation.comparison,
                             text("Parts of ", baseline.run.model.name, " on ", ablation.comparison.run->subject()),
                             curves, fact_rows(ablation), terms);
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

std::string to_html(const Ablation& ablation) { return document_of(ablation).as_page(); }
std::string to_text(const Ablation& ablation) { return document_of(ablation).as_text(); }

std::string to_json(const Ablation& ablation) {
  const Comparison& comparison = ablation.comparison;
  const RunOptions& baseline = ablation.variations.kept.front().run;
  const FitOptions& fit = comparison.options.run.fit;
  JsonObject object{{"task", comparison.run->options.task},
                    {"model", baseline.model.name},
                    {"memory", memory_name(baseline.model)},
                    {"metric", name_of(comparison.run->task->metric())},
                    {"seeds", comparison.options.seeds},
                    {"steps", fit.steps},
                    {"batch", fit.batch},
                    {"learning_rate", fit.learning_rate},
                    {"curriculum", fit.curriculum},
                    {"variations", list_of(fact_rows(ablation), object_of)},
                    {"left_out", ablation.variations.left_out}};
  object.add(to_json(baseline.model.form));
  return object.text();
}

}  // namespace retrace

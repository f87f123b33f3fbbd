#include <retrace/models/reports/comparison/comparison_report.h>
#include <retrace/models/reports/plots/markup.h>

#include <algorithm>
#include <cmath>

namespace retrace {
namespace {

/// Empty for a task without lessons.
std::string lessons_in_words(const Comparison& comparison) {
  const std::int64_t lessons = comparison.run->lessons();
  if (lessons == 0) return "";
  if (!comparison.options.run.fit.curriculum) return " No curriculum: the full task from the first step on.";
  return text(" Curriculum: easier lessons first, ", lessons, " in all; each is left once it is passed.");
}

/// "cosine", or of models whose recipes differ "cosine (lstm), trapezoid (rmc)".
std::string of_each(const Comparison& comparison, std::string ModelResult::*setting) {
  const std::vector<ModelResult>& results = comparison.results;
  const auto is_first = [&](const ModelResult& result) { return result.*setting == results.front().*setting; };
  if (std::ranges::all_of(results, is_first)) return results.front().*setting;
  std::string words;
  for (const ModelResult& result : results)
    words += text(words.empty() ? "" : ", ", result.*setting, " (", result.name, ")");
  return words;
}

}  // namespace

Plot learning_curves(const Comparison& comparison) {
  const FitOptions& fit = comparison.options.run.fit;
  Plot plot{.title = text("validation ", comparison.run->metric(), " on ", comparison.run->subject()),
            .x_label = "samples seen",
            .curves = {}};
  for (const ModelResult& result : comparison.results) {
    if (result.runs.empty()) continue;
    std::size_t points = result.runs.front().history.size();  // a run that was stopped early has fewer
    for (const FitResult& run : result.runs) points = std::min(points, run.history.size());
    Curve curve{.name = result.name, .x = {}, .y = {}};
    for (std::size_t point = 0; point < points; ++point) {
      std::vector<double> metrics;
      for (const FitResult& run : result.runs) metrics.push_back(run.history[point].validation.metric);
      curve.x.push_back(static_cast<double>(result.runs.front().history[point].step * *fit.batch * fit.accumulate));
      curve.y.push_back(summarise(metrics).mean);
      curve.low.push_back(*std::min_element(metrics.begin(), metrics.end()));
      curve.high.push_back(*std::max_element(metrics.begin(), metrics.end()));
    }
    plot.curves.push_back(std::move(curve));
  }
  const Baselines baselines = comparison.run->baselines();
  plot.levels = {{std::string(baselines.trivial_answer), baselines.trivial}};
  if (comparison.run->knows_ceiling()) plot.levels.push_back({"best possible", baselines.ceiling});
  return plot;
}

std::string with_half_width(const Summary& sample) {
  return std::isfinite(sample.half_width)
             ? in_digits(sample.mean, "%.4g") + " ± " + in_digits(sample.half_width, "%.2g")
             : in_digits(sample.mean, "%.4g");
}

std::vector<std::string> budget_in_words(const Comparison& comparison) {
  const FitOptions& fit = comparison.options.run.fit;
  const bool by_time = fit.steps == no_limit;
  const std::string minutes = fit.minutes > 0 ? text(by_time ? " for " : ", or ", fit.minutes, " minutes") : "";
  return {text("Budget of a run: ", by_time ? std::string() : text(*fit.steps, " "), "updates of ",
               *fit.batch * fit.accumulate, " samples", minutes, "; ", comparison.options.seeds,
               " seeds; the same batches in the same order for every model; tested on ",
               comparison.run->test_in_words(), " with the parameters of the lowest validation loss on it."),
          text("Optimiser: ", of_each(comparison, &ModelResult::optimizer), ", schedule ",
               of_each(comparison, &ModelResult::schedule), ", warm-up ", fit.warm_up, ", clip ", fit.clip, ".",
               lessons_in_words(comparison))};
}

std::vector<std::string> failures_in_words(const Comparison& comparison) {
  std::vector<std::string> lines;
  for (const ModelResult& result : comparison.results)
    for (const std::string& failure : result.failures)
      lines.push_back(text("Left out: ", result.name, ", ", failure, "."));
  for (const ModelResult& result : comparison.results)
    for (const FitResult& run : result.runs)
      if (run.diverged())
        lines.push_back(text("A run of ", result.name, " diverged: its loss grew to ",
                             in_digits(run.history.back().loss), "; lower its learning rate."));
  return lines;
}

std::vector<std::string> unpassed_lessons_in_words(const Comparison& comparison) {
  std::vector<std::string> lines;
  const std::int64_t lessons = comparison.run->lessons();
  if (!comparison.options.run.fit.curriculum) return lines;
  for (const ModelResult& result : comparison.results)
    for (const FitResult& run : result.runs)
      if (const std::int64_t lesson = run.history.empty() ? lessons : run.history.back().lesson; lesson < lessons)
        lines.push_back(text("A run of ", result.name, " ended in lesson ", lesson + 1, " of ", lessons,
                             "; it was tested with its last parameters."));
  return lines;
}

std::string baselines_in_words(const Comparison& comparison) {
  const Baselines baselines = comparison.run->baselines();
  const std::string ceiling =
      comparison.run->knows_ceiling() ? text("; best possible ", in_digits(baselines.ceiling, "%.4g")) : std::string();
  return text("Chance ", in_digits(baselines.chance, "%.4g"), "; ", baselines.trivial_answer, " ",
              in_digits(baselines.trivial, "%.4g"), ceiling, ". ± is the half width of the 95 % interval of the mean.");
}

std::string html_page(const std::string& title, const std::string& svg, const std::vector<Row>& table,
                      const std::vector<std::string>& lines) {
  std::string body =
      svg + html_table(table) + "<p>The band of a curve reaches from the lowest to the highest seed.</p>\n";
  for (const std::string& line : lines) body += text("<p>", escaped(line), "</p>\n");
  return html_document(title, body);
}

std::string text_page(const std::vector<Row>& table, const std::vector<std::string>& lines) {
  std::string result = text_table(table, "lr");
  for (const std::string& line : lines) result += wrapped(line);
  return result;
}

}  // namespace retrace

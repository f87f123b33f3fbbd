#include <retrace/models/reports/comparison/comparison_report.h>

#include <algorithm>
#include <cmath>

namespace retrace {
namespace {

/// Empty for a task without lessons.
std::string lessons_in_words(const Comparison& comparison) {
  const std::int64_t lessons = std::ssize(comparison.run->task->lessons());
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

void add_unpassed_lessons(Document& document, const Comparison& comparison) {
  const std::int64_t lessons = std::ssize(comparison.run->task->lessons());
  if (!comparison.options.run.fit.curriculum) return;
  for (const ModelResult& result : comparison.results)
    for (const FitResult& run : result.runs)
      if (const std::int64_t lesson = run.history.empty() ? lessons : run.history.back().lesson; lesson < lessons)
        document.paragraph(text("A run of ", result.name, " ended in lesson ", lesson + 1, " of ", lessons,
                                "; it was tested with its last parameters."));
}

void add_failures(Document& document, const Comparison& comparison) {
  for (const ModelResult& result : comparison.results)
    for (const std::string& failure : result.failures)
      document.paragraph(text("Left out: ", result.name, ", ", failure, "."));
  for (const ModelResult& result : comparison.results)
    for (const FitResult& run : result.runs)
      if (run.diverged())
        document.paragraph(text("A run of ", result.name, " diverged: its loss grew to ",
                                in_digits(run.history.back().loss), "; lower its learning rate."));
}

}  // namespace

Plot learning_curves(const Comparison& comparison) {
  const FitOptions& fit = comparison.options.run.fit;
  Plot plot{.title = text("validation ", name_of(comparison.run->task->metric()), " on ", comparison.run->subject()),
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
  const Baselines baselines = comparison.run->task->baselines();
  plot.levels = {{std::string(baselines.trivial_answer), baselines.trivial}};
  if (baselines.ceiling) plot.levels.push_back({"best possible", *baselines.ceiling});
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

std::string baselines_in_words(const Baselines& baselines) {
  return text("Chance ", in_digits(baselines.chance, "%.4g"), "; ", baselines.trivial_answer, " ",
              in_digits(baselines.trivial, "%.4g"),
              baselines.ceiling ? text("; best possible ", in_digits(*baselines.ceiling, "%.4g")) : "", ".");
}

Document comparison_document(const Comparison& comparison, std::string title, const std::string& curves,
                             const std::vector<FactRow>& table, const std::vector<std::string>& terms) {
  Document document(std::move(title));
  document.on_page(curves);
  document.table(table);
  document.on_page("<p>The band of a curve reaches from the lowest to the highest seed.</p>\n");
  for (const std::string& line : terms) document.paragraph(line);
  add_unpassed_lessons(document, comparison);
  add_failures(document, comparison);
  document.paragraph(text(baselines_in_words(comparison.run->task->baselines()),
                          " ± is the half width of the 95 % interval of the mean."));
  return document;
}

namespace {

std::string mean_or_never(const std::vector<double>& numbers, std::size_t runs) {
  if (numbers.empty()) return "never";
  const std::string mean = in_digits(summarise(numbers).mean);
  return numbers.size() == runs ? mean : text(mean, " (", numbers.size(), " of ", runs, ")");
}

FactRow fact_row(const Comparison& comparison, const ModelResult& result) {
  const ModelResult& first = comparison.results.front();
  const auto tried_to_json = [](const std::pair<double, double>& tried) {
    return JsonObject{{"learning_rate", tried.first}, {"validation_loss", tried.second}};
  };
  return {{"model", result.name, "model"},
          {"hidden", result.hidden, "hidden"},
          {"parameters", result.parameters, "parameters"},
          {"flops_a_sample", result.flops_a_sample},
          {"", in_digits(static_cast<double>(result.flops_a_sample)), "FLOPs per sample"},
          {"learning_rate", result.learning_rate, "learning rate"},
          {"optimizer", result.optimizer},
          {"schedule", result.schedule},
          {"tried", list_of(result.tried, tried_to_json)},
          {"values", result.values},
          {"value", result.value.mean},
          {"half_width", result.value.half_width},
          {"", with_half_width(result.value), text("test ", name_of(comparison.run->task->metric()))},
          {"difference", result.against_first.mean},
          {"difference_half_width", result.against_first.half_width},
          {"", &result == &first ? "" : with_half_width(result.against_first), "minus " + first.name},
          {"seconds", result.seconds, "seconds"},
          {"seconds_to_threshold", result.seconds_to_threshold},
          {"", mean_or_never(result.seconds_to_threshold, result.runs.size()),
           "seconds to " + in_digits(comparison.threshold)},
          {"samples_to_threshold", result.samples_to_threshold},
          {"", mean_or_never(result.samples_to_threshold, result.runs.size()), "samples to it"}};
}

std::int64_t matched_size(const ModelResult& result, Match match) {
  return match == Match::flops ? result.flops_a_sample : result.parameters;
}

/// Names the quantity that was matched, and the models whose nearest possible size still differs by more than `near`.
std::string match_in_words(const Comparison& comparison) {
  constexpr double near = 0.1;
  const Match match = comparison.options.match;
  if (match == Match::none) return "Sizes are as given: not matched.";
  const std::string unit = match == Match::flops ? "operations of a sample" : "parameters";
  const ModelResult& first = comparison.results.front();
  const auto goal = static_cast<double>(matched_size(first, match));
  std::string unmatched;
  for (const ModelResult& result : comparison.results) {
    const auto size = static_cast<double>(matched_size(result, match));
    if (std::abs(size / goal - 1) <= near) continue;
    unmatched += text(unmatched.empty() ? "" : ", ", result.name, " has ", in_digits(size, "%.0f"), " (",
                      in_digits(size / goal, "%.2f"), " times as many)");
  }
  if (unmatched.empty()) return text("Sizes are matched by the number of ", unit, ".");
  return text("Sizes could not all be matched by the number of ", unit, ": ", first.name, " has ",
              in_digits(goal, "%.0f"), "; ", unmatched, ".");
}

/// The settings that all models shared, and those chosen for each.
std::vector<std::string> terms(const Comparison& comparison) {
  std::vector<std::string> lines = budget_in_words(comparison);
  lines.push_back(match_in_words(comparison));
  for (const ModelResult& result : comparison.results)
    if (const std::string form = in_words(result.form); !form.empty())
      lines.push_back(text(result.name, ", ", form, "."));
  for (const ModelResult& result : comparison.results) {
    if (result.tried.empty()) continue;
    std::string line = text("Learning rate of ", result.name, ", by validation loss with a separate seed:");
    for (const auto& [rate, loss] : result.tried)
      line += text(" ", in_digits(rate, "%.4g"), " -> ", in_digits(loss, "%.4g"), ";");
    line.back() = '.';
    lines.push_back(line);
  }
  return lines;
}

Document document_of(const Comparison& comparison) {
  std::vector<FactRow> table;
  for (const ModelResult& result : comparison.results) table.push_back(fact_row(comparison, result));
  return comparison_document(comparison, text("Models on ", comparison.run->subject()),
                             to_svg(learning_curves(comparison), 900, 460), table, terms(comparison));
}

}  // namespace

std::string to_html(const Comparison& comparison) { return document_of(comparison).as_page(); }
std::string to_text(const Comparison& comparison) { return document_of(comparison).as_text(); }

std::string to_json(const Comparison& comparison) {
  const auto model_to_json = [&](const ModelResult& result) {
    JsonObject object = object_of(fact_row(comparison, result));
    object.add(to_json(result.form));
    return object;
  };
  const FitOptions& fit = comparison.options.run.fit;
  return JsonObject{{"task", comparison.run->options.task},
                    {"metric", name_of(comparison.run->task->metric())},
                    {"seeds", comparison.options.seeds},
                    {"steps", fit.steps},
                    {"batch", fit.batch},
                    {"curriculum", fit.curriculum},
                    {"threshold", comparison.threshold},
                    {"models", list_of(comparison.results, model_to_json)}}
      .text();
}

}  // namespace retrace

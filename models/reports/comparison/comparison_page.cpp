// A comparison as a page, and as a table for a terminal.
#include <retrace/models/reports/comparison/comparison_report.h>

#include <cmath>

namespace retrace {
namespace {

std::string mean_or_dash(const std::vector<double>& numbers, std::size_t runs) {
  if (numbers.empty()) return "never";
  const std::string mean = in_digits(summarise(numbers).mean);
  return numbers.size() == runs ? mean : text(mean, " (", numbers.size(), " of ", runs, ")");
}

Row headings(const Comparison& comparison) {
  const std::string metric(comparison.run->metric());
  return {"model",
          "hidden",
          "parameters",
          "FLOPs per sample",
          "learning rate",
          "test " + metric,
          "minus " + comparison.results.front().name,
          "seconds",
          "seconds to " + in_digits(comparison.threshold),
          "samples to it"};
}

Row row_of(const Comparison& comparison, const ModelResult& result) {
  const bool is_first = &result == &comparison.results.front();
  return {result.name,
          std::to_string(result.hidden),
          std::to_string(result.parameters),
          in_digits(static_cast<double>(result.flops_a_sample)),
          in_digits(result.learning_rate),
          with_half_width(result.value),
          is_first ? "" : with_half_width(result.against_first),
          in_digits(result.seconds),
          mean_or_dash(result.seconds_to_threshold, result.runs.size()),
          mean_or_dash(result.samples_to_threshold, result.runs.size())};
}

std::vector<Row> table(const Comparison& comparison) {
  std::vector<Row> rows{headings(comparison)};
  for (const ModelResult& result : comparison.results) rows.push_back(row_of(comparison, result));
  return rows;
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
  for (const std::string& line : unpassed_lessons_in_words(comparison)) lines.push_back(line);
  for (const std::string& line : failures_in_words(comparison)) lines.push_back(line);
  lines.push_back(baselines_in_words(comparison));
  return lines;
}

}  // namespace

std::string to_html(const Comparison& comparison) {
  return html_page(text("Models on ", comparison.run->subject()), to_svg(learning_curves(comparison), 900, 460),
                   table(comparison), terms(comparison));
}

std::string to_text(const Comparison& comparison) { return text_page(table(comparison), terms(comparison)); }

}  // namespace retrace

// A comparison for people: as a page, and as a table for a terminal.
#include <retrace/models/compare/compare.h>

#include <array>
#include <cmath>
#include <cstdio>

namespace retrace {
namespace {

std::string number(double value, const char* format = "%.4g") {
  if (!std::isfinite(value)) return "-";
  std::array<char, 48> digits;
  std::snprintf(digits.data(), digits.size(), format, value);
  return digits.data();
}

std::string with_half_width(const Sample& sample) {
  return std::isfinite(sample.half_width) ? number(sample.mean) + " ± " + number(sample.half_width, "%.2g")
                                          : number(sample.mean);
}

std::string mean_or_dash(const std::vector<double>& numbers, std::size_t runs) {
  if (numbers.empty()) return "never";
  const std::string mean = number(summarise(numbers).mean, "%.3g");
  return numbers.size() == runs ? mean : text(mean, " (", numbers.size(), " of ", runs, ")");
}

using Row = std::vector<std::string>;

Row headings(const Comparison& comparison) {
  const std::string metric(metric_name(comparison.task->kind()));
  return {"model",
          "hidden",
          "parameters",
          "FLOPs a sample",
          "learning rate",
          "test " + metric,
          "minus " + comparison.contestants.front().name,
          "seconds",
          "seconds to " + number(comparison.threshold, "%.3g"),
          "samples to it"};
}

Row row_of(const Comparison& comparison, const Contestant& contestant) {
  const bool is_first = &contestant == &comparison.contestants.front();
  return {contestant.name,
          std::to_string(contestant.hidden),
          std::to_string(contestant.parameters),
          number(static_cast<double>(contestant.flops_a_sample), "%.3g"),
          number(contestant.learning_rate, "%.3g"),
          with_half_width(contestant.value),
          is_first ? "" : with_half_width(contestant.against_first),
          number(contestant.seconds, "%.3g"),
          mean_or_dash(contestant.seconds_to_threshold, contestant.runs.size()),
          mean_or_dash(contestant.samples_to_threshold, contestant.runs.size())};
}

std::vector<Row> table(const Comparison& comparison) {
  std::vector<Row> rows{headings(comparison)};
  for (const Contestant& contestant : comparison.contestants) rows.push_back(row_of(comparison, contestant));
  return rows;
}

/// What was the same for all models, and what was chosen for each.
std::vector<std::string> terms(const Comparison& comparison) {
  const CompareOptions& options = comparison.options;
  const FitOptions& fit = options.run.fit;
  std::vector<std::string> lines;
  lines.push_back(text("Budget of a run: ", fit.steps, " updates of ", fit.batch * fit.accumulate, " samples",
                       fit.minutes > 0 ? text(", or ", fit.minutes, " minutes") : std::string(), "; ", options.seeds,
                       " seeds; the same batches in the same order for every model; tested on ", fit.test_samples,
                       " fresh samples of the full task with the parameters of the lowest validation loss."));
  lines.push_back(text("Optimiser: ", fit.optimizer, ", schedule ", fit.schedule, ", warm-up ", fit.warm_up, ", clip ",
                       fit.clip, "."));
  constexpr std::array matches{"Sizes are as given: not matched.", "Sizes are matched by the number of parameters.",
                               "Sizes are matched by the operations of a sample."};
  lines.push_back(matches[static_cast<std::size_t>(options.match)]);
  for (const Contestant& contestant : comparison.contestants) {
    if (contestant.tried.empty()) continue;
    std::string line = text("Learning rate of ", contestant.name, ", by validation loss on a seed of its own:");
    for (const auto& [rate, loss] : contestant.tried) line += text(" ", number(rate), " -> ", number(loss), ";");
    line.back() = '.';
    lines.push_back(line);
  }
  const Yardsticks yardsticks = comparison.task->yardsticks();
  lines.push_back(text("Chance ", number(yardsticks.chance), "; ", yardsticks.trivial_answer, " ",
                       number(yardsticks.trivial), "; best possible ", number(yardsticks.ceiling),
                       ". ± is the half width of the 95 % interval of the mean."));
  return lines;
}

std::size_t characters(const std::string& words) {
  std::size_t count = 0;
  for (const char letter : words) count += (static_cast<unsigned char>(letter) & 0xC0) != 0x80 ? 1 : 0;  // of UTF-8
  return count;
}

}  // namespace

std::string to_html(const Comparison& comparison) {
  std::string page =
      text("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>", comparison.task->name(),
           "</title>\n<style>body{font-family:sans-serif;max-width:70em;margin:2em auto;padding:0 1em}"
           "table{border-collapse:collapse}td,th{padding:.3em .7em;border-bottom:1px solid #ddd;text-align:right}"
           "td:first-child,th:first-child{text-align:left}</style></head>\n<body><h1>Models on ",
           comparison.task->name(), "</h1>\n", to_svg(learning_curves(comparison), 900, 460), "<table>\n");
  const char* cell = "th";
  for (const Row& row : table(comparison)) {
    page += "<tr>";
    for (const std::string& words : row) page += text("<", cell, ">", words, "</", cell, ">");
    page += "</tr>\n";
    cell = "td";
  }
  page += "</table>\n<p>The band of a curve reaches from the lowest to the highest seed.</p>\n";
  for (const std::string& line : terms(comparison)) page += text("<p>", line, "</p>\n");
  return page + "</body></html>\n";
}

std::string to_text(const Comparison& comparison) {
  const std::vector<Row> rows = table(comparison);
  std::vector<std::size_t> widths(rows.front().size(), 0);
  for (const Row& row : rows)
    for (std::size_t column = 0; column < row.size(); ++column)
      widths[column] = std::max(widths[column], characters(row[column]));
  std::string result;
  for (const Row& row : rows) {
    for (std::size_t column = 0; column < row.size(); ++column) {
      const std::string padding(widths[column] - characters(row[column]), ' ');
      result += column == 0 ? row[column] + padding : "  " + padding + row[column];
    }
    result += "\n";
  }
  for (const std::string& line : terms(comparison)) result += line + "\n";
  return result;
}

}  // namespace retrace

// A TextReport as text and as JSON.
#include <retrace/core/base/printable.h>
#include <retrace/models/formats/digits.h>
#include <retrace/models/formats/json_text.h>
#include <retrace/models/formats/text_table.h>
#include <retrace/models/reports/evaluation/report_words.h>
#include <retrace/models/reports/evaluation/text_report.h>

namespace retrace {
namespace {

/// With line ends as "\n", so that it fits into one line.
std::string in_one_line(std::string_view passage) {
  std::string line;
  for (;; passage.remove_prefix(passage.find('\n') + 1)) {
    line += printable(passage.substr(0, passage.find('\n')));
    if (passage.find('\n') == std::string_view::npos) return line;
    line += "\\n";
  }
}

std::string learning_of(const TextReport& report) {
  const std::string_view unit = report.kind == TokenKind::words ? "word" : "character";
  std::vector<Row> rows{{"weights", std::string(metric_name(report.kind)), "95 % interval"}};
  rows.push_back({"frozen", in_digits(report.metric.value, "%.4g"), interval_text(report.metric)});
  rows.push_back(
      {"keep learning", in_digits(report.keeps_learning.value, "%.4g"), interval_text(report.keeps_learning)});
  return text("\n", text_table(rows, "lr", "  "),
              wrapped(text("Both read the text once, from beginning to end. The second model learns from each segment "
                           "after it was scored, at a learning rate of ",
                           report.keep_learning->learning_rate, ": ", in_digits(report.difference.mean, "%+.4f"), " ± ",
                           in_digits(report.difference.half_width, "%.2g"), " bits per ", unit, "."),
                      "  "));
}

JsonObject estimate_members(const Estimate& estimate) {
  return {{"value", estimate.value}, {"low", estimate.low}, {"high", estimate.high}};
}

JsonText learning_to_json(const TextReport& report) {
  if (!report.keep_learning) return {};
  JsonObject object = estimate_members(report.keeps_learning);
  object.add("learning_rate", report.keep_learning->learning_rate);
  object.add("difference_in_bits", report.difference.mean);
  object.add("difference_half_width", report.difference.half_width);
  return object;
}

}  // namespace

std::string to_text(const TextReport& report) {
  std::string result =
      text(report.model, checkpoint_note(report.step), " on ", report.file, ": ", metric_name(report.kind), " ",
           in_digits(report.metric.value, "%.4g"), " (95 % interval ", interval_text(report.metric), ")\n",
           wrapped(text(report.tokens, " ", name_of(report.kind), " were predicted",
                        report.as_in_training ? ", those of the training's test" : "", "; chance ",
                        in_digits(report.chance, "%.4g"), "; ", report.parameters, " parameters."),
                   "  "));
  if (report.keep_learning) result += learning_of(report);
  std::vector<Row> rows{{report.categories.name, "tokens", std::string(metric_name(report.kind)), "95 % interval"}};
  for (const CategoryRow& row : report.categories.rows)
    rows.push_back({row.value, std::to_string(row.metric.answers), in_digits(row.metric.value, "%.4g"),
                    interval_text(row.metric)});
  result += text("\n", text_table(rows, "lr", "  "));
  if (!report.passages.empty()) result += "\nWorst passages:\n";
  for (const TextPassage& passage : report.passages)
    result += text("  line ", passage.line, ", ", metric_name(report.kind), " ", in_digits(passage.value), ": ",
                   in_one_line(passage.text), "\n");
  return result;
}

std::string to_json(const TextReport& report) {
  std::vector<JsonObject> categories, passages;
  for (const CategoryRow& row : report.categories.rows) {
    categories.push_back({{"category", row.value}, {"tokens", row.metric.answers}});
    categories.back().add(estimate_members(row.metric));
  }
  for (const TextPassage& passage : report.passages)
    passages.push_back({{"line", passage.line}, {"value", passage.value}, {"text", passage.text}});
  JsonObject object{{"task", "text"},
                    {"model", report.model},
                    {"path", report.path},
                    {"step", report.step},
                    {"text", report.file},
                    {"as_in_training", report.as_in_training},
                    {"tokens", name_of(report.kind)},
                    {"predicted", report.tokens},
                    {"parameters", report.parameters},
                    {"metric", metric_name(report.kind)}};
  object.add(estimate_members(report.metric));
  object.add("chance", report.chance);
  object.add("keep_learning", learning_to_json(report));
  object.add("categories", categories);
  object.add("passages", passages);
  return object.text();
}

}  // namespace retrace

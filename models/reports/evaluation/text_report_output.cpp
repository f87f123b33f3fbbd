// A TextReport as text and as JSON.
#include <retrace/core/base/printable.h>
#include <retrace/models/reports/document/document.h>
#include <retrace/models/reports/evaluation/evaluation_document.h>
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

std::vector<FactRow> fact_rows(const CategoryTable& table, std::string_view metric) {
  std::vector<FactRow> rows;
  for (const CategoryRow& row : table.rows) {
    rows.push_back({{"category", row.value, table.name}, {"tokens", row.metric.answers, "tokens"}});
    extend(rows.back(), fact_row(row.metric, metric, "%.4g"));
  }
  return rows;
}

void add_learning(Document& document, const TextReport& report) {
  std::vector<FactRow> rows{{{"", "frozen", "weights"}}, {{"", "keep learning", "weights"}}};
  extend(rows[0], fact_row(report.metric, metric_name(report.kind), "%.4g"));
  extend(rows[1], fact_row(report.keeps_learning, metric_name(report.kind), "%.4g"));
  document.section("Learning");
  document.table(rows);
  document.paragraph(text(
      "Both read the text once, from beginning to end. The second model learns from each segment after it was scored, "
      "at a learning rate of ",
      report.keep_learning->learning_rate, ": ", in_digits(report.difference.mean, "%+.4f"), " ± ",
      in_digits(report.difference.half_width, "%.2g"), " bits per ",
      report.kind == TokenKind::words ? "word" : "character", "."));
}

JsonText learning_to_json(const TextReport& report) {
  if (!report.keep_learning) return {};
  JsonObject object = object_of(fact_row(report.keeps_learning, metric_name(report.kind), "%.4g"));
  object.add({{"learning_rate", report.keep_learning->learning_rate},
              {"difference_in_bits", report.difference.mean},
              {"difference_half_width", report.difference.half_width}});
  return object;
}

}  // namespace

std::string to_text(const TextReport& report) {
  const std::string_view metric = metric_name(report.kind);
  Document document(report.path);
  document.line(text(report.model, checkpoint_note(report.step), " on ", report.file, ": ", metric, " ",
                     in_digits(report.metric.value, "%.4g"), " (95 % interval ", interval_text(report.metric), ")"));
  document.in_text(wrapped(text(report.tokens, " ", name_of(report.kind), " were predicted",
                                report.as_in_training ? ", those of the training's test" : "", "; chance ",
                                in_digits(report.chance, "%.4g"), "; ", report.parameters, " parameters."),
                           "  "));
  if (report.keep_learning) add_learning(document, report);
  document.section("Categories");
  document.table(fact_rows(report.categories, metric));
  if (!report.passages.empty()) document.heading("Worst passages:");
  for (const TextPassage& passage : report.passages)
    document.line(
        text("line ", passage.line, ", ", metric, " ", in_digits(passage.value), ": ", in_one_line(passage.text)));
  return document.as_text();
}

std::string to_json(const TextReport& report) {
  const std::string_view metric = metric_name(report.kind);
  JsonObject object{{"task", "text"},
                    {"model", report.model},
                    {"path", report.path},
                    {"step", report.step},
                    {"text", report.file},
                    {"as_in_training", report.as_in_training},
                    {"tokens", name_of(report.kind)},
                    {"predicted", report.tokens},
                    {"parameters", report.parameters},
                    {"metric", metric}};
  object.add(object_of(fact_row(report.metric, metric, "%.4g")));
  const auto passage_to_json = [](const TextPassage& passage) {
    return JsonObject{{"line", passage.line}, {"value", passage.value}, {"text", passage.text}};
  };
  object.add({{"chance", report.chance},
              {"keep_learning", learning_to_json(report)},
              {"categories", list_of(fact_rows(report.categories, metric), object_of)},
              {"passages", list_of(report.passages, passage_to_json)}});
  return object.text();
}

}  // namespace retrace

// A report as text and as a page.
#include <retrace/core/base/error.h>
#include <retrace/core/base/printable.h>
#include <retrace/models/reports/evaluation/evaluation_document.h>

#include <algorithm>

namespace retrace {
namespace {

constexpr std::size_t most_rows = 40;  // of a table

/// "2035 tokens of kjv.txt", "100 samples that the task holds out".
std::string samples_of(const Report& report) {
  if (report.text) return text(report.samples, " ", name_of(report.text->kind), " of ", report.text->file);
  const std::string samples = text(report.samples, " samples");
  if (!report.input.empty()) return text(samples, " of ", report.input);
  return report.held_out ? samples + " that the task holds out" : text(samples, " of seed ", report.seed);
}

/// The title, the metric and what to compare it with.
void add_summary(Document& document, const Report& report) {
  const Baselines& baselines = report.baselines;
  std::string compared = text("to compare: chance ", in_digits(baselines.chance));
  if (!baselines.trivial_answer.empty())
    compared += text(", ", baselines.trivial_answer, " ", in_digits(baselines.trivial));
  for (const Baselines::Shortcut& shortcut : baselines.shortcuts)
    compared += text(", ", shortcut.answer, " ", in_digits(shortcut.value));
  if (baselines.ceiling) compared += text(", best possible ", in_digits(*baselines.ceiling));
  document.line(
      text(title_of(report), ", ", report.parameters, " parameters, from ", report.path, checkpoint_note(report.step)));
  document.line(text(name_of(report.measure), " ", in_digits(report.evaluation.metric, "%.4g"), " (95 % interval ",
                     interval_text(report.metric), ") of ", samples_of(report),
                     report.as_in_training ? ", the same as in the training's test" : "", "; loss ",
                     in_digits(report.evaluation.loss, "%.4g")));
  document.line(compared);
}

/// The first of the rows, and a note on `which` these are if there are more.
void add_table(Document& document, const char* title, std::vector<FactRow> rows, const char* which) {
  const std::size_t all = rows.size();
  rows.resize(std::min(all, most_rows));
  document.section(title);
  document.table(rows);
  if (all > most_rows) document.paragraph(text("The ", most_rows, " ", which, ", of ", all, "; --json has all."));
}

/// Sorts many classes by their number of wrong answers.
void add_classes(Document& document, ClassTable table) {
  const auto wrong_answers = [](const ClassRow& row) { return row.accuracy.answers - row.times(row.label); };
  if (table.rows.size() > most_rows) std::ranges::stable_sort(table.rows, std::greater(), wrong_answers);
  if (!table.rows.empty()) add_table(document, "Classes", fact_rows(table), "classes with the most wrong answers");
}

/// Nothing for a table of one line, in which all samples are alike.
void add_categories(Document& document, const std::vector<CategoryTable>& tables, Metric metric) {
  for (const CategoryTable& table : tables)
    if (table.rows.size() > 1) add_table(document, "Categories", fact_rows(table, metric), "first");
}

/// "line 12 of x.csv", or "sample 3" of those that a task made.
std::string place_of(const Failure& failure, const Report& report) {
  if (failure.place.empty()) return text("sample ", failure.sample);
  const std::string& file = report.input.empty() ? report.task_options.data.value_or("") : report.input;
  return file.empty() ? failure.place : text(failure.place, " of ", file);
}

/// "right: rose (p = 0.2), answered: daisy (p = 0.8)"; of numbers, with the squared error.
std::string answers_of(const Failure& failure, bool is_classification) {
  const auto likely = [&](double probability) {
    return is_classification ? text(" (p = ", in_digits(probability), ")") : std::string();
  };
  return text("right: ", failure.expected, likely(failure.probability_of_expected), ", answered: ", failure.given,
              likely(failure.probability_of_given),
              is_classification ? std::string() : text(", squared error ", in_digits(failure.error)));
}

void add_failures(Document& document, const Report& report) {
  const bool is_classification = report.kind == TaskKind::classification;
  if (report.failures.empty() && report.failure_count > 0) return;
  document.heading(!is_classification ? "Largest errors"
                                      : text("Wrong: ", report.failure_count, " of ", report.samples, " samples",
                                             report.failures.empty() ? "" : "; the most confident ones"));
  for (const Failure& failure : report.failures) {
    document.subheading(place_of(failure, report));
    document.verbatim(failure.input);
    document.line(answers_of(failure, is_classification));
  }
}

/// With line ends as "\\n", so that it fits into one line.
std::string in_one_line(std::string_view passage) {
  std::string line;
  for (;; passage.remove_prefix(passage.find('\n') + 1)) {
    line += printable(passage.substr(0, passage.find('\n')));
    if (passage.find('\n') == std::string_view::npos) return line;
    line += "\\n";
  }
}

void add_learning(Document& document, const KeptLearning& learning, const Report& report) {
  std::vector<FactRow> rows{{{"", "frozen", "weights"}}, {{"", "keep learning", "weights"}}};
  extend(rows[0], fact_row(report.metric, name_of(report.measure), "%.4g"));
  extend(rows[1], fact_row(learning.metric, name_of(report.measure), "%.4g"));
  document.section("Learning");
  document.table(rows);
  document.paragraph(text(
      "Both read the text once, from beginning to end. The second model learns from each segment after it was scored, "
      "at a learning rate of ",
      learning.options.learning_rate, ": ", in_digits(learning.difference.mean, "%+.4f"), " ± ",
      in_digits(learning.difference.half_width, "%.2g"), " bits per ",
      report.text->kind == TokenKind::words ? "word" : "character", "."));
}

void add_text(Document& document, const TextTest& test, const Report& report) {
  if (test.learning) add_learning(document, *test.learning, report);
  if (!test.passages.empty()) document.heading("Worst passages:");
  for (const TextPassage& passage : test.passages)
    document.line(text("line ", passage.line, ", ", name_of(report.measure), " ", in_digits(passage.value), ": ",
                       in_one_line(passage.text)));
}

Document document_of(const Report& report) {
  Document document(title_of(report));
  add_summary(document, report);
  add_classes(document, report.classes);
  add_categories(document, report.categories, report.measure);
  if (report.of_every_difficulty.answers > 0)
    document.heading(text("On as many samples of every difficulty up to the task's: ", name_of(report.measure), " ",
                          in_digits(report.of_every_difficulty.value, "%.4g"), " (95 % interval ",
                          interval_text(report.of_every_difficulty), ")"));
  add_categories(document, report.of_every_difficulty_categories, report.measure);
  if (report.text)
    add_text(document, *report.text, report);
  else
    add_failures(document, report);
  return document;
}

}  // namespace

std::string title_of(const Report& report) {
  const std::string given = in_words(given_options(task_option_rows(), report.task_options));
  return text(report.model, report.memory_kind.empty() ? "" : ":" + report.memory_kind, " on ", report.task,
              given.empty() ? "" : " (" + given + ")");
}

std::string to_text(const Report& report) {
  return document_of(report).as_text() + attention_document(report).as_text();
}

std::string report_page(const Report& report) { return document_of(report).as_page(); }

}  // namespace retrace

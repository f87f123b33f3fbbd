#include <retrace/core/base/error.h>
#include <retrace/core/base/printable.h>
#include <retrace/models/formats/digits.h>
#include <retrace/models/reports/evaluation/evaluation_maps.h>
#include <retrace/models/reports/evaluation/evaluation_tables.h>
#include <retrace/models/reports/evaluation/report_words.h>

#include <algorithm>
#include <cmath>

namespace retrace {
namespace {

constexpr std::size_t most_rows = 40;

std::string note_on(std::size_t rows, const char* which) {
  if (rows <= most_rows) return "";
  return text("The ", most_rows, " ", which, ", of ", rows, "; --json has all.");
}

std::int64_t wrong_answers(const ClassRow& row) { return row.accuracy.answers - row.times(row.label); }

/// "rose 2, tulip 1": the labels that were given instead, the most frequent ones first.
std::string mistaken_for(const ClassRow& row, const ClassTable& table) {
  constexpr std::size_t most = 3;
  std::vector<std::pair<std::int64_t, std::int64_t>> wrong(row.answered.begin(), row.answered.end());
  std::erase_if(wrong, [&](const auto& each) { return each.first == row.label; });
  std::ranges::stable_sort(wrong, std::greater(), [](const auto& each) { return each.second; });
  std::string words;
  for (std::size_t k = 0; k < std::min(wrong.size(), most); ++k)
    words += text(k == 0 ? "" : ", ", printable(table.names.at(wrong[k].first)), " ", wrong[k].second);
  return wrong.size() > most ? words + ", ..." : words;
}

}  // namespace

std::vector<std::string> summary_lines(const Report& report) {
  const Baselines& baselines = report.baselines;
  std::string samples = text(" of seed ", report.seed);
  if (!report.input.empty())
    samples = text(" of ", report.input);
  else if (report.held_out)
    samples = " that the task holds out";
  std::string compared = text("to compare: chance ", in_digits(baselines.chance), ", ", baselines.trivial_answer, " ",
                              in_digits(baselines.trivial));
  for (const Baselines::Shortcut& shortcut : baselines.shortcuts)
    compared += text(", ", shortcut.answer, " ", in_digits(shortcut.value));
  return {
      text(title_of(report), ", ", report.parameters, " parameters, from ", report.path, checkpoint_note(report.step)),
      text(metric_name(report.kind), " ", in_digits(report.evaluation.metric, "%.4g"), " (95 % interval ",
           interval_text(report.metric), ") of ", report.samples, " samples", samples,
           report.as_in_training ? ", the same as in the training's test" : "", "; loss ",
           in_digits(report.evaluation.loss, "%.4g")),
      text(compared, ", best possible ", in_digits(baselines.ceiling))};
}

ShownTable shown(const CategoryTable& table, TaskKind kind) {
  constexpr std::size_t bar_length = 20;
  ShownTable result{.rows = {{table.name, "answers", std::string(metric_name(kind)), "95 % interval"}},
                    .note = note_on(table.rows.size(), "first")};
  for (std::size_t k = 0; k < std::min(table.rows.size(), most_rows); ++k) {
    const CategoryRow& row = table.rows[k];
    result.rows.push_back({row.value, std::to_string(row.metric.answers), in_digits(row.metric.value, "%.4f"),
                           interval_text(row.metric)});
    if (kind != TaskKind::classification) continue;
    std::string bar(static_cast<std::size_t>(std::lround(row.metric.value * bar_length)), '#');
    bar.resize(bar_length, '.');
    result.rows.back().push_back(bar);
  }
  return result;
}

ShownTable shown(const ClassTable& table) {
  constexpr std::size_t few = 10;
  const bool has_matrix = table.names.size() <= few;
  ShownTable result{.rows = {{"class", "answers", "accuracy", "95 % interval"}},
                    .note = note_on(table.rows.size(), "classes with the most wrong answers")};
  if (has_matrix)
    for (const auto& [label, name] : table.names) result.rows.front().push_back("as " + printable(name));
  else
    result.rows.front().emplace_back("mistaken for");
  std::vector<ClassRow> rows = table.rows;
  if (rows.size() > most_rows) {
    std::ranges::stable_sort(rows, std::greater(), wrong_answers);
    rows.resize(most_rows);
  }
  for (const ClassRow& row : rows) {
    Row cells{printable(table.names.at(row.label)), std::to_string(row.accuracy.answers),
              in_digits(row.accuracy.value, "%.4f"), interval_text(row.accuracy)};
    if (has_matrix)
      for (const auto& [label, name] : table.names)
        cells.push_back(row.times(label) == 0 ? "." : std::to_string(row.times(label)));
    else
      cells.push_back(mistaken_for(row, table));
    result.rows.push_back(std::move(cells));
  }
  return result;
}

std::string failures_title(const Report& report) {
  if (report.kind != TaskKind::classification) return "Largest errors";
  return text("Wrong: ", report.failure_count, " of ", report.samples, " samples");
}

std::string place_of(const Failure& failure, const Report& report) {
  if (failure.place.empty()) return text("sample ", failure.sample);
  const std::string& file = report.input.empty() ? report.task_options.data.value_or("") : report.input;
  return file.empty() ? failure.place : text(failure.place, " of ", file);
}

std::string answer_line(const Failure& failure, TaskKind kind) {
  const bool is_classification = kind == TaskKind::classification;
  const auto likely = [&](double probability) {
    return is_classification ? text(" (p = ", in_digits(probability), ")") : std::string();
  };
  return text("right: ", failure.expected, likely(failure.probability_of_expected), ", answered: ", failure.given,
              likely(failure.probability_of_given),
              is_classification ? std::string() : text(", squared error ", in_digits(failure.error)));
}

}  // namespace retrace

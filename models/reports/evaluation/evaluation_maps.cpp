#include <retrace/core/base/error.h>
#include <retrace/models/formats/digits.h>
#include <retrace/models/reports/evaluation/evaluation_maps.h>

#include <cmath>

namespace retrace {
namespace {

std::vector<std::string> names_of(std::int64_t slots, std::int64_t columns) {
  std::vector<std::string> names;
  for (std::int64_t slot = 0; slot < slots; ++slot) names.push_back(text("slot ", slot, " "));
  if (columns > slots) names.emplace_back("input ");
  return names;
}

/// From numbers by step to numbers by row.
HeatMap over_time(std::string title, const std::vector<std::vector<double>>& by_step, std::vector<std::string> names) {
  HeatMap map{.title = std::move(title),
              .rows = std::ssize(names),
              .columns = std::ssize(by_step),
              .values = {},
              .row_names = std::move(names)};
  for (std::size_t row = 0; row < map.row_names.size(); ++row)
    for (const std::vector<double>& step : by_step) map.values.push_back(step[row]);
  return map;
}

std::string per_cent(double part) { return in_digits(100 * part, "%.0f") + " %"; }

}  // namespace

std::vector<HeatMap> attention_steps(const AttentionExample& example) {
  std::vector<HeatMap> maps;
  for (std::size_t t = 0; t < example.weights.size(); ++t)
    maps.push_back({.title = std::to_string(t + 1),
                    .rows = example.slots,
                    .columns = example.columns,
                    .values = example.weights[t],
                    .apart = example.attends_to_input ? example.slots : -1,
                    .marked = example.row_to_remember == static_cast<std::int64_t>(t)});
  return maps;
}

HeatMap attention_over_time(const AttentionExample& example) {
  std::vector<std::vector<double>> received;
  for (const std::vector<double>& weights : example.weights) {
    std::vector<double>& now = received.emplace_back(static_cast<std::size_t>(example.columns));
    for (std::size_t k = 0; k < weights.size(); ++k)
      now[k % now.size()] += weights[k] / static_cast<double>(example.slots);
  }
  HeatMap map = over_time("received at each step", received, names_of(example.slots, example.columns));
  map.marked_column = example.row_to_remember.value_or(-1);
  return map;
}

HeatMap attention_over_time(const MemoryUse& use) {
  return over_time("attention received", use.attention_over_time, names_of(use.slots, use.columns));
}

HeatMap changes_over_time(const MemoryUse& use) {
  return over_time("changes most", use.written_over_time, names_of(use.slots, use.slots));
}

std::string title_of(const Report& report) {
  const std::string given = in_words(given_options(task_option_rows(), report.task_options));
  return text(report.model, report.memory_kind.empty() ? "" : ":" + report.memory_kind, " on ", report.task,
              given.empty() ? "" : " (" + given + ")");
}

std::string verdict(bool right, const std::string& given, const std::string& expected, TaskKind kind) {
  if (kind == TaskKind::classification && right) return text("was right: ", given);
  return text(kind == TaskKind::classification ? "was wrong: said " : "said ", given, ", right is ", expected);
}

std::vector<std::string> findings(const MemoryUse& use) {
  std::vector<std::string> lines;
  lines.push_back(text("Effective number of slots: ", in_digits(use.effective_slots), " of ", use.slots,
                       " by the attention that they receive, ", in_digits(use.effective_written),
                       " by which one changes most."));
  lines.push_back(text("A slot's attention has an entropy of ", in_digits(use.attention_entropy), " bits; ",
                       in_digits(std::log2(static_cast<double>(use.columns))), " would be even, 0 is one place only."));
  const Specialisation& special = use.specialisation;
  lines.push_back(text("The slot that changes most has an entropy of ", in_digits(special.slot_entropy),
                       " bits; the number of the step gives ", in_digits(special.by_time), " of them",
                       special.by_topic ? text(", the topic of the row ", in_digits(*special.by_topic)) : "", "."));
  if (!use.around) return lines;
  const AroundTheRow& around = *use.around;
  const std::string even = per_cent(1 / static_cast<double>(use.columns));
  if (use.columns > use.slots)
    lines.push_back(text("The input gets ", per_cent(around.to_input_before),
                         " of the attention before the row to remember, ", per_cent(around.to_input_at), " at it, ",
                         per_cent(around.to_input_after), " after it (even: ", even, ")."));
  lines.push_back(text("The slot that changed most at the row to remember gets ", per_cent(around.to_slot_after),
                       " of the attention afterwards (even: ", even, ")."));
  return lines;
}

}  // namespace retrace

#include <retrace/core/base/error.h>
#include <retrace/models/reports/evaluation/evaluation_document.h>

#include <algorithm>
#include <cmath>

namespace retrace {
namespace {

/// Twenty characters, as many of them '#' as correspond to the part.
std::string bar_of(double part) {
  constexpr std::size_t length = 20;
  std::string bar(static_cast<std::size_t>(std::lround(part * length)), '#');
  bar.resize(length, '.');
  return bar;
}

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

/// A row of the confusion matrix, in which labels that were never given are left out of the JSON.
FactRow answers_of(const ClassRow& row, const ClassTable& table) {
  constexpr std::size_t few = 10;
  JsonObject answered;
  for (const auto& [label, count] : row.answered) answered.add(table.names.at(label), count);
  FactRow facts{{"answered", answered}};
  if (table.names.size() > few) {
    facts.emplace_back("", mistaken_for(row, table), "mistaken for");
    return facts;
  }
  for (const auto& [label, name] : table.names)
    facts.emplace_back("", row.times(label) == 0 ? "." : text(row.times(label)), "as " + printable(name));
  return facts;
}

}  // namespace

std::string interval_text(const Estimate& estimate) {
  return text(in_digits(estimate.low, "%.4g"), " to ", in_digits(estimate.high, "%.4g"));
}

std::string checkpoint_note(std::int64_t step) {
  return step > 0 ? text(" (a checkpoint after step ", step, ")") : std::string();
}

FactRow fact_row(const Estimate& estimate, std::string_view metric, const char* digits) {
  return {{"value", estimate.value, std::string(metric), digits},
          {"low", estimate.low},
          {"high", estimate.high},
          {"", interval_text(estimate), "95 % interval"}};
}

std::vector<FactRow> fact_rows(const CategoryTable& table, Metric metric) {
  const char* digits = metric == Metric::accuracy || metric == Metric::mse ? "%.4f" : "%.4g";
  std::vector<FactRow> rows;
  for (const CategoryRow& row : table.rows) {
    FactRow& facts =
        rows.emplace_back(FactRow{{"category", row.value, table.name}, {"", row.metric.answers, "answers"}});
    extend(facts, fact_row(row.metric, name_of(metric), digits));
    facts.emplace_back("answers", row.metric.answers);
    if (metric == Metric::accuracy) facts.emplace_back("", bar_of(row.metric.value), "");
  }
  return rows;
}

std::vector<FactRow> fact_rows(const ClassTable& table) {
  std::vector<FactRow> rows;
  for (const ClassRow& row : table.rows) {
    FactRow& facts = rows.emplace_back(
        FactRow{{"class", table.names.at(row.label), "class"}, {"", row.accuracy.answers, "answers"}});
    extend(facts, fact_row(row.accuracy, "accuracy", "%.4f"));
    facts.emplace_back("answers", row.accuracy.answers);
    extend(facts, answers_of(row, table));
  }
  return rows;
}

std::vector<FactRow> fact_rows(const MemoryUse& use) {
  std::vector<FactRow> rows;
  for (std::size_t slot = 0; slot < use.of_slots.size(); ++slot) {
    const SlotUse& of_slot = use.of_slots[slot];
    rows.push_back({{"", slot, "slot"},
                    {"norm", of_slot.norm, "norm"},
                    {"norm_over_time", of_slot.norm_over_time, "its deviation over time"},
                    {"variance", of_slot.variance, "variance"},
                    {"attention", of_slot.attention, "attention received", "%.3f"},
                    {"written", of_slot.written, "changes most", "%.3f"}});
    for (const GateUse& gate : use.gates)
      rows.back().emplace_back("", gate.of_slots[slot], gate.name + " gate", "%.3f");
  }
  return rows;
}

}  // namespace retrace

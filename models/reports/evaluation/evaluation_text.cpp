// A report for a terminal.
#include <retrace/core/base/error.h>
#include <retrace/models/formats/digits.h>
#include <retrace/models/formats/text_table.h>
#include <retrace/models/reports/evaluation/evaluation_maps.h>
#include <retrace/models/reports/evaluation/evaluation_tables.h>
#include <retrace/models/reports/evaluation/report_words.h>

#include <algorithm>
#include <array>

namespace retrace {
namespace {

constexpr std::size_t map_width = text_width - 2;  // without the leading space
constexpr std::size_t max_steps_in_text = 16;      // whose matrices are printed
constexpr std::int64_t max_columns_in_text = 70;

/// The lines, indented.
std::string indented(const std::string& lines, const char* by) {
  std::string result;
  for (std::size_t begin = 0; begin < lines.size();) {
    const std::size_t end = std::min(lines.find('\n', begin), lines.size());
    result += by + lines.substr(begin, end - begin) + "\n";
    begin = end + 1;
  }
  return result;
}

std::string headline(const Report& report) {
  std::string lines;
  for (const std::string& line : summary_lines(report)) lines += line + "\n";
  return lines;
}

std::string text_of(const ShownTable& table) {
  return text("\n", text_table(table.rows, "lr", "  "), wrapped(table.note, "  "));
}

/// Empty for a table of one line, in which all samples are alike.
std::string table_of(const CategoryTable& table, TaskKind kind) {
  return table.rows.size() == 1 ? "" : text_of(shown(table, kind));
}

std::string failures_of(const Report& report) {
  if (report.failures.empty() && report.failure_count > 0) return "";
  std::string lines = "\n" + failures_title(report);
  if (report.failures.empty()) return lines + "\n";
  lines += report.kind == TaskKind::classification ? "; the most confident ones:\n" : ":\n";
  for (const Failure& failure : report.failures)
    lines += text("  ", place_of(failure, report), "\n", indented(failure.input, "    "), "    ",
                  answer_line(failure, report.kind), "\n");
  return lines;
}

/// The largest number is the darkest, as the title says.
HeatMap in_own_shades(HeatMap map) {
  const double largest = largest_of({&map, 1});
  if (!(largest > 0)) return map;
  map.title += text(" (@ is ", in_digits(largest), ")");
  for (double& value : map.values) value /= largest;
  return map;
}

std::string memory_of(const MemoryUse& use, bool at_one_length) {
  std::vector<Row> rows{{"slot", "norm", "its deviation over time", "variance", "attention received", "changes most"}};
  for (std::size_t slot = 0; slot < use.of_slots.size(); ++slot) {
    const SlotUse& of_slot = use.of_slots[slot];
    rows.push_back({std::to_string(slot), in_digits(of_slot.norm), in_digits(of_slot.norm_over_time),
                    in_digits(of_slot.variance), in_digits(of_slot.attention, "%.3f"),
                    in_digits(of_slot.written, "%.3f")});
  }
  if (use.columns > use.slots) rows.push_back({"input", "", "", "", in_digits(use.input_attention, "%.3f")});
  for (const GateUse& gate : use.gates) {
    rows.front().push_back(gate.name + " gate");
    for (std::size_t slot = 0; slot < gate.of_slots.size(); ++slot)
      rows[slot + 1].push_back(in_digits(gate.of_slots[slot], "%.3f"));
  }
  std::string lines = text("\nMemory: ", use.slots, " slots, over ", use.samples, " samples of ", use.steps, " steps",
                           at_one_length ? ", the most frequent length\n" : "\n", text_table(rows, "lr", "  "));
  for (const std::string& finding : findings(use)) lines += wrapped(finding, "  ");
  for (const GateUse& gate : use.gates)
    lines += text("  The ", gate.name, " gates are ", in_digits(100 * gate.mean, "%.0f"), " % open on average.\n");
  if (use.steps > max_columns_in_text) return lines;
  const std::array maps{in_own_shades(attention_over_time(use)), in_own_shades(changes_over_time(use))};
  return text(lines, "  Step by step, from left to right:\n", indented(to_text(maps, 1, map_width), "  "));
}

std::string example_of(const AttentionExample& example, TaskKind kind) {
  const std::vector<HeatMap> steps = attention_steps(example);
  const std::array received{in_own_shades(attention_over_time(example))};
  std::string sentence = text("The model ", verdict(example.right, example.given, example.expected, kind), ".");
  if (example.row_to_remember)
    sentence += text(" Step ", *example.row_to_remember + 1, ", which is to be remembered, has a * and a ^.");
  std::string lines = text("\n", indented(example.input, "  "), wrapped(sentence, "  "));
  if (steps.size() <= max_steps_in_text)
    lines += text("  Each step (@ is ", in_digits(largest_of(steps)), "):\n",
                  indented(to_text(steps, largest_of(steps), map_width), "  "));
  if (received.front().columns <= max_columns_in_text) lines += indented(to_text(received, 1, map_width), "  ");
  return lines;
}

std::string heads_of(const AttentionOfSample& attention) {
  std::vector<Row> rows{{"layer", "head", "columns seen", "gradient norm"}};
  for (const HeadSummary& head : summarise(attention.heads))
    rows.push_back(
        {head.layer, std::to_string(head.head), in_digits(head.columns_seen), in_digits(head.gradient_norm)});
  return text(
      "\nHeads of attention, for one sample\n", text_table(rows, "lr", "  "),
      wrapped("Columns seen: 2 to the power of the entropy of a row of weights, 1 for one column alone. Gradient: "
              "that of the loss with respect to the weights.",
              "  "));
}

}  // namespace

std::string to_text(const Report& report) {
  std::string result = headline(report);
  if (!report.classes.rows.empty()) result += text_of(shown(report.classes));
  for (const CategoryTable& table : report.categories) result += table_of(table, report.kind);
  if (report.of_every_difficulty.answers > 0)
    result += text("\nOn as many samples of every difficulty up to the task's: ", metric_name(report.kind), " ",
                   in_digits(report.of_every_difficulty.value, "%.4g"), " (95 % interval ",
                   interval_text(report.of_every_difficulty), ")\n");
  for (const CategoryTable& table : report.of_every_difficulty_categories) result += table_of(table, report.kind);
  result += failures_of(report);
  if (report.memory) result += memory_of(*report.memory, report.memory_at_one_length);
  if (!report.examples.empty())
    result += text("\nAttention: at each step, a row is a slot and its columns are the slots that it looks at",
                   report.examples.front().attends_to_input ? ", the last one the input" : "",
                   " (mean of the heads); blank is 0\n");
  for (const AttentionExample& example : report.examples) result += example_of(example, report.kind);
  if (report.attention) result += heads_of(*report.attention);
  return result;
}

}  // namespace retrace

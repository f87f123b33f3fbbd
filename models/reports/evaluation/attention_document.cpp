#include <retrace/core/base/error.h>
#include <retrace/models/reports/document/markup.h>
#include <retrace/models/reports/evaluation/attention_tables.h>
#include <retrace/models/reports/evaluation/evaluation_document.h>
#include <retrace/models/reports/plots/heat_map.h>

#include <array>
#include <cmath>
#include <span>

namespace retrace {
namespace {

constexpr std::size_t map_width = text_width - 2;  // without the leading space
constexpr std::size_t max_steps_in_text = 16;      // whose matrices are printed
constexpr std::int64_t max_columns_in_text = 70;

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

/// A matrix per step with a row per slot, the column of the input set apart; the step to remember is marked.
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

/// The attention that each slot and the input received at each step.
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

/// The largest number is the darkest, as the title says.
HeatMap in_own_shades(HeatMap map) {
  const double largest = largest_of({&map, 1});
  if (!(largest > 0)) return map;
  map.title += text(" (@ is ", in_digits(largest), ")");
  for (double& value : map.values) value /= largest;
  return map;
}

/// A wide drawing with a name, which scrolls by itself.
std::string picture(const std::string& name, std::span<const HeatMap> maps) {
  return text("<div class=wide tabindex=0 role=img aria-label=\"", name, "\">", to_svg(maps, largest_of(maps)),
              "</div>\n");
}

/// The rows of a sample, `to_remember` of them in red.
std::string list_of_rows(const char* title, const AnsweredSample& sample, int first, std::int64_t to_remember = -1) {
  std::string items;
  for (std::size_t t = 0; t < sample.rows.size(); ++t)
    items += text("<li", to_remember == static_cast<std::int64_t>(t) ? " class=\"remember\"" : "", ">",
                  escaped(sample.rows[t]), "</li>\n");
  return text("<details><summary>", title, "</summary><ol start=", first, ">\n", items, "</ol></details>\n");
}

/// "The model was right: vector 3", "The model was wrong: said 2, right is 3"; for numbers "The model said 2, right is
/// 3".
std::string verdict(const AnsweredSample& sample, TaskKind kind) {
  if (kind == TaskKind::classification && sample.right) return "The model was right: " + sample.given;
  return text("The model ", kind == TaskKind::classification ? "was wrong: " : "", "said ", sample.given, ", right is ",
              sample.expected);
}

std::string per_cent(double part) { return in_digits(100 * part, "%.0f") + " %"; }

void add_findings(Document& document, const MemoryUse& use) {
  document.paragraph(text("Effective number of slots: ", in_digits(use.effective_slots), " of ", use.slots,
                          " by the attention that they receive, ", in_digits(use.effective_written),
                          " by which one changes most."));
  document.paragraph(text("A slot's attention has an entropy of ", in_digits(use.attention_entropy), " bits; ",
                          in_digits(std::log2(static_cast<double>(use.columns))),
                          " would be even, 0 is one place only."));
  const Specialisation& special = use.specialisation;
  document.paragraph(text("The slot that changes most has an entropy of ", in_digits(special.slot_entropy),
                          " bits; the number of the step gives ", in_digits(special.by_time), " of them",
                          special.by_topic ? text(", the topic of the row ", in_digits(*special.by_topic)) : "", "."));
  if (!use.around) return;
  const AroundTheRow& around = *use.around;
  const std::string even = per_cent(1 / static_cast<double>(use.columns));
  if (use.columns > use.slots)
    document.paragraph(text("The input gets ", per_cent(around.to_input_before),
                            " of the attention before the row to remember, ", per_cent(around.to_input_at), " at it, ",
                            per_cent(around.to_input_after), " after it (even: ", even, ")."));
  document.paragraph(text("The slot that changed most at the row to remember gets ", per_cent(around.to_slot_after),
                          " of the attention afterwards (even: ", even, ")."));
}

void add_memory(Document& document, const MemoryUse& use, bool at_one_length) {
  document.heading(text("Memory: ", use.slots, " slots, over ", use.samples, " samples of ", use.steps, " steps",
                        at_one_length ? ", the most frequent length" : ""));
  std::vector<FactRow> rows = fact_rows(use);
  if (use.columns > use.slots)
    rows.push_back(
        {{"", "input", ""}, {"", "", ""}, {"", "", ""}, {"", "", ""}, {"", use.input_attention, "", "%.3f"}});
  document.table(rows);
  add_findings(document, use);
  for (const GateUse& gate : use.gates)
    document.line(text("The ", gate.name, " gates are ", per_cent(gate.mean), " open on average."));
  const std::array maps{over_time("attention received", use.attention_over_time, names_of(use.slots, use.columns)),
                        over_time("changes most", use.written_over_time, names_of(use.slots, use.slots))};
  for (const HeatMap& map : maps) document.on_page(picture(map.title, {&map, 1}));
  if (use.steps > max_columns_in_text) return;
  document.in_text("Step by step, from left to right:");
  document.in_text(to_text(std::array{in_own_shades(maps[0]), in_own_shades(maps[1])}, 1, map_width));
}

void add_example(Document& document, const AttentionExample& example, TaskKind kind) {
  const std::vector<HeatMap> steps = attention_steps(example);
  const std::array received{attention_over_time(example)};
  const std::int64_t to_remember = example.row_to_remember.value_or(-1);
  const std::string said = verdict(example, kind), largest = in_digits(largest_of(steps));
  document.section(said);
  document.verbatim(example.input);
  document.in_text(wrapped(
      text(said, ".",
           example.row_to_remember ? text(" Step ", to_remember + 1, ", which is to be remembered, has a * and a ^.")
                                   : ""),
      "", map_width));
  if (steps.size() <= max_steps_in_text)
    document.in_text(text("Each step (@ is ", largest, "):\n", to_text(steps, largest_of(steps), map_width)));
  if (received.front().columns <= max_columns_in_text)
    document.in_text(to_text(std::array{in_own_shades(received.front())}, 1, map_width));
  document.on_page(picture("The attention of each slot at each step", steps));
  document.on_page(text("<p>0 is white, ", largest, " is dark blue.</p>\n"));
  document.on_page(picture("The attention received at each step", received));
  document.on_page(list_of_rows("The rows read at each step", example, 1, to_remember));
}

void add_examples(Document& document, const Report& report) {
  if (report.examples.empty()) return;
  document.heading("Attention step by step");
  document.in_text(wrapped(text("At each step, a row is a slot and its columns are the slots that it looks at",
                                report.examples.front().attends_to_input ? ", the last one the input" : "",
                                " (mean of the heads); blank is 0."),
                           "", map_width));
  document.on_page(
      "<p>A matrix is a step. A row is a slot, a column a slot that it looks at, the mean of the heads; where a slot "
      "can look at the input, that is the last column, set apart. The step with the row that has to be remembered to "
      "answer is framed in red.</p>\n");
  for (const AttentionExample& example : report.examples) add_example(document, example, report.kind);
}

void add_heads(Document& document, const Report& report) {
  const AttentionOfSample& attention = *report.attention;
  document.heading("Heads of attention, for one sample");
  std::vector<FactRow> heads;
  for (const HeadSummary& head : summarise(attention.heads))
    heads.push_back({{"", head.layer, "layer"},
                     {"", head.head, "head"},
                     {"", head.columns_seen, "columns seen"},
                     {"", head.gradient_norm, "gradient norm"}});
  document.in_text(text_table(printed_rows(heads), "lr", "", map_width));
  document.in_text(
      wrapped("Columns seen: 2 to the power of the entropy of a row of weights, 1 for one column alone. Gradient: that "
              "of the loss with respect to the weights.",
              "", map_width));
  document.on_page(text(
      "<p>", escaped(verdict(attention, report.kind)), ".</p>\n<pre tabindex=0>", escaped(attention.input),
      "</pre>\n<p>Look for heads that attend to different columns, and for rows with one weight near 1: softmax "
      "then lets hardly any gradient through to the scores. A row is what asks (a query), a column what is "
      "looked at (a key); a row of weights sums to 1. ",
      report.model == "attention" ? "The last layer has only the rows that are answered, which are the last ones of "
                                    "the sample. "
                                  : "",
      "Beside the weights is the gradient of the loss with respect to them: where it is negative, more weight would "
      "have made the loss smaller.</p>\n",
      list_of_rows("The rows of the sample, counted from 0", attention, 0), attention_tables(attention.heads)));
}

}  // namespace

Document attention_document(const Report& report) {
  Document document(title_of(report), attention_style());
  document.on_page(text("<p>", name_of(report.measure), " ", in_digits(report.evaluation.metric, "%.4g"), " of ",
                        report.samples, report.text ? " tokens" : " samples", ".</p>\n"));
  if (report.memory) {
    add_memory(document, *report.memory, report.memory_at_one_length);
    add_examples(document, report);
  }
  if (report.attention) add_heads(document, report);
  return document;
}

std::optional<std::string> attention_page(const Report& report) {
  if (!report.memory && !report.attention) return std::nullopt;
  return attention_document(report).as_page();
}

}  // namespace retrace

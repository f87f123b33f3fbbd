#include <retrace/core/base/error.h>
#include <retrace/models/formats/digits.h>
#include <retrace/models/reports/evaluation/attention_tables.h>
#include <retrace/models/reports/evaluation/evaluation_maps.h>
#include <retrace/models/reports/plots/markup.h>

#include <array>

namespace retrace {
namespace {

constexpr int cell = 14;

/// A wide drawing with a name, which scrolls by itself.
std::string picture(const char* name, const std::string& svg) {
  return text("<div class=wide tabindex=0 role=img aria-label=\"", name, "\">", svg, "</div>\n");
}

std::string section_of(const AttentionExample& example, TaskKind kind) {
  const std::vector<HeatMap> steps = attention_steps(example);
  const std::array received{attention_over_time(example)};
  std::string rows;
  for (std::size_t t = 0; t < example.rows.size(); ++t)
    rows += text("<li", example.row_to_remember == static_cast<std::int64_t>(t) ? " class=\"remember\"" : "", ">",
                 escaped(example.rows[t]), "</li>\n");
  return text("<h2>The model ", escaped(verdict(example.right, example.given, example.expected, kind)),
              "</h2>\n<pre tabindex=0>", escaped(example.input), "</pre>\n",
              picture("The attention of each slot at each step", to_svg(steps, largest_of(steps), cell)),
              "<p>0 is white, ", in_digits(largest_of(steps)), " is dark blue.</p>\n",
              picture("The attention received at each step", to_svg(received, largest_of(received), cell)),
              "<details><summary>The rows read at each step</summary><ol>\n", rows, "</ol></details>\n");
}

std::string memory_section(const MemoryUse& use) {
  std::string section = text("<h2>Over ", use.samples, " samples</h2>\n");
  for (const HeatMap& map : {attention_over_time(use), changes_over_time(use)})
    section += picture(map.title.c_str(), to_svg({&map, 1}, largest_of({&map, 1}), cell));
  for (const std::string& finding : findings(use)) section += text("<p>", escaped(finding), "</p>\n");
  return section;
}

std::string heads_section(const AttentionOfSample& attention, TaskKind kind, std::string_view model) {
  const char* of_last_layer = model == "attention"
                                  ? "The last layer has only the rows that are answered, which are the last "
                                    "ones of the sample. "
                                  : "";
  std::string rows;
  for (const std::string& row : attention.rows) rows += text("<li>", escaped(row), "</li>\n");
  return text(
      "<h2>Every layer and head for one sample</h2>\n<p>The model ",
      escaped(verdict(attention.right, attention.given, attention.expected, kind)), ".</p>\n<pre tabindex=0>",
      escaped(attention.input),
      "</pre>\n<p>Look for heads that attend to different columns, and for rows with one weight near 1: softmax "
      "then lets hardly any gradient through to the scores. A row is what asks (a query), a column what is "
      "looked at (a key); a row of weights sums to 1. ",
      of_last_layer,
      "Beside the weights is the gradient of the loss with respect to them: where it is negative, more weight would "
      "have made the loss smaller.</p>\n"
      "<details><summary>The rows of the sample, counted from 0</summary><ol start=0>\n",
      rows, "</ol></details>\n", attention_tables(attention.heads));
}

}  // namespace

std::optional<std::string> attention_page(const Report& report) {
  if (!report.memory && !report.attention) return std::nullopt;
  const std::string title = escaped(title_of(report));
  std::string page = text(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
      "content=\"width=device-width\"><title>",
      title, "</title>\n<style>", attention_style, "</style></head>\n<body><main><h1>", title, "</h1>\n<p>",
      metric_name(report.kind), " ", in_digits(report.evaluation.metric, "%.4g"), " of ", report.samples,
      " samples.</p>\n");
  if (report.memory) {
    page +=
        "<p>A matrix is a step. A row is a slot, a column a slot that it looks at, the mean of the heads; where a slot "
        "can look at the input, that is the last column, set apart. The step with the row that has to be remembered to "
        "answer is framed in red.</p>\n";
    for (const AttentionExample& example : report.examples) page += section_of(example, report.kind);
    page += memory_section(*report.memory);
  }
  if (report.attention) page += heads_section(*report.attention, report.kind, report.model);
  return page + "</main></body></html>\n";
}

}  // namespace retrace

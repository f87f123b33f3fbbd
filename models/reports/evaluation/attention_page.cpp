#include <retrace/core/error.h>
#include <retrace/models/formats/digits.h>
#include <retrace/models/reports/evaluation/evaluation_maps.h>
#include <retrace/models/reports/plots/markup.h>

#include <array>

namespace retrace {
namespace {

constexpr int cell = 14;

std::string section_of(const AttentionExample& example, TaskKind kind) {
  const std::vector<HeatMap> steps = attention_steps(example);
  const std::array received{attention_over_time(example)};
  std::string rows;
  for (std::size_t t = 0; t < example.rows.size(); ++t)
    rows += text("<li", example.row_to_remember == static_cast<std::int64_t>(t) ? " class=\"remember\"" : "", ">",
                 escaped(example.rows[t]), "</li>\n");
  return text("<h2>The model ", escaped(verdict(example, kind)), "</h2>\n<pre>", escaped(example.input), "</pre>\n",
              to_svg(steps, largest_of(steps), cell), "<p>0 is white, ", in_digits(largest_of(steps)),
              " is dark blue.</p>\n", to_svg(received, largest_of(received), cell),
              "<details><summary>The rows read at each step</summary><ol>\n", rows, "</ol></details>\n");
}

std::string memory_section(const MemoryUse& use) {
  std::string section = text("<h2>Over ", use.samples, " samples</h2>\n");
  for (const HeatMap& map : {attention_over_time(use), changes_over_time(use)})
    section += to_svg({&map, 1}, largest_of({&map, 1}), cell);
  for (const std::string& finding : findings(use)) section += text("<p>", escaped(finding), "</p>\n");
  return section;
}

/// The section for a model whose attention is not drawn.
std::string what_there_is_instead(const Report& report) {
  const std::string why =
      report.model == "attention"
          ? "Its rows attend to each other in every block. Drawn here is the attention of memories "
            "with slots alone (rmc, relational-rnn)"
          : text("A model named ", report.model, " has no memory slots, whose attention would be drawn here");
  return why + "; this is its report in words and numbers.";
}

}  // namespace

std::string attention_page(const Report& report) {
  const std::string title = escaped(title_of(report));
  std::string page =
      text("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>", title,
           "</title>\n<style>body{font-family:sans-serif;max-width:75em;margin:2em auto;padding:0 1em}"
           "pre{background:#f6f6f6;padding:.6em}.remember{color:#c1121f;font-weight:bold}</style></head>\n<body><h1>",
           title, "</h1>\n<p>", metric_name(report.kind), " ", in_digits(report.evaluation.metric, "%.4g"), " of ",
           report.samples, " samples.</p>\n");
  if (!report.memory)
    return text(page, "<p>", escaped(what_there_is_instead(report)), "</p>\n<pre>", escaped(to_text(report)),
                "</pre>\n</body></html>\n");
  page +=
      "<p>A matrix is a step. A row is a slot, a column a slot that it looks at, the mean of the heads; where a slot "
      "can "
      "look at the input, that is the last column, set apart. The step with the row that has to be remembered to "
      "answer "
      "is framed in red.</p>\n";
  for (const AttentionExample& example : report.examples) page += section_of(example, report.kind);
  return page + memory_section(*report.memory) + "</body></html>\n";
}

}  // namespace retrace

#include <retrace/models/checks/selfcheck/selfcheck.h>

#include <algorithm>

#include <retrace/models/checks/bugs/bug_evidence.h>
#include <retrace/models/checks/checks.h>
#include <retrace/models/checks/module_cases.h>
#include <retrace/models/checks/row_rule.h>
#include <retrace/models/formats/json_text.h>
#include <retrace/ops/checks/op_checks.h>

namespace retrace {
namespace {

const GradcheckOptions limits;

std::vector<Figure> check_gradients() {
  std::vector<Figure> figures;
  for (const int order : {1, 2}) {
    const std::vector<CheckRow> rows = run_checks({}, order);
    const CheckRow total = total_of(rows);
    Figure differences{"gradients", text("differences, order ", order, ": elements"), total.elements, total.worst_error,
                       limits.limit};
    for (const CheckRow& row : rows)
      for (const std::string& failure : row.failures) differences.failures.push_back(row.name + ": " + failure);
    figures.push_back(differences);
    figures.push_back({"gradients", text("dual numbers, order ", order, ": elements"), total.elements,
                       total.exact_error, limits.exact_limit});
  }
  return figures;
}

std::vector<Figure> check_bugs() {
  const std::vector<BugEvidence> bugs = replayed_bugs();
  Figure figure{"bugs", "public gradient bugs, not found", static_cast<std::int64_t>(bugs.size())};
  for (const BugEvidence& bug : bugs) {
    if (bug.found()) continue;
    ++figure.worst;
    figure.failures.push_back(text(bug.card.source, ": ", bug.card.essence));
  }
  return {figure};
}

std::vector<Figure> check_rows() {
  std::vector<Figure> figures;
  for (const Dtype dtype : {f64, f32}) {
    RowRule rule = compare_rows(op_cases(), dtype);
    rule.add(compare_rows(module_cases(), dtype));
    figures.push_back({.part = "rows",
                       .what = text("rows that differ from the row alone, ", dtype),
                       .count = rule.rows,
                       .worst = static_cast<double>(rule.failures.size()),
                       .failures = rule.failures});
  }
  return figures;
}

constexpr SelfcheckPart parts[] = {{"gradients", check_gradients}, {"bugs", check_bugs},
                                   {"rows", check_rows},           {"threads", check_threads},
                                   {"files", check_files},         {"accuracy", check_accuracy}};

}  // namespace

std::span<const SelfcheckPart> selfcheck_parts() { return parts; }

std::string to_json(const std::vector<Figure>& figures) {
  std::vector<JsonObject> rows;
  for (const Figure& figure : figures)
    rows.push_back({{"part", figure.part},
                    {"what", figure.what},
                    {"count", figure.count},
                    {"worst", figure.worst},
                    {"limit", figure.limit},
                    {"passed", figure.passed()},
                    {"failures", figure.failures}});
  JsonObject result{{"passed", std::ranges::all_of(figures, &Figure::passed)}};
  result.add("rows", rows);
  return result.text();
}

}  // namespace retrace

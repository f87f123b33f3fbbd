#include <retrace/models/checks/bugs/bug_cards.h>
#include <retrace/models/checks/bugs/bug_evidence.h>
#include <retrace/models/formats/json_text.h>

#include <algorithm>

namespace retrace {

std::string to_json(const std::vector<BugEvidence>& bugs) {
  const auto count = [&](auto member) { return static_cast<std::int64_t>(std::ranges::count_if(bugs, member)); };
  JsonObject result{{"bugs", bugs.size()},
                    {"found", count(&BugEvidence::found)},
                    {"seen_by_sum", count(&BugEvidence::seen_by_sum)},
                    {"seen_by_point", count(&BugEvidence::seen_by_point)}};
  std::vector<JsonObject> rows, others;
  for (const BugEvidence& bug : bugs)
    rows.push_back({{"source", bug.card.source},
                    {"essence", bug.card.essence},
                    {"class", name_of(bug.card.kind)},
                    {"error", bug.error},
                    {"found_by", bug.found_by},
                    {"right_fails", bug.right_fails},
                    {"seen_by_sum", bug.seen_by_sum},
                    {"seen_by_point", bug.seen_by_point}});
  for (const auto& [source, reason] : reports_not_replayed())
    others.push_back({{"source", source}, {"reason", reason}});
  result.add("rows", rows);
  result.add("not_replayed", others);
  return result.text();
}

}  // namespace retrace

// retrace gradcheck --bugs: the collection of real gradient bugs.
#include <algorithm>
#include <string>

#include <retrace/models/checks/bugs/bug_evidence.h>
#include <retrace/models/cli/commands.h>
#include <retrace/models/cli/print.h>

namespace retrace {
namespace {

void print_bug(std::ostream& out, const BugEvidence& bug) {
  print(out, "%-10s %8.1e  %-3s  %-5s  %s\n", std::string(name_of(bug.card.kind)).c_str(), bug.error,
        bug.seen_by_sum ? "yes" : "no", bug.seen_by_point ? "yes" : "no", bug.found() ? "ok" : "FAILED");
  out << "  " << bug.card.source << "\n    " << bug.card.essence << "\n    found by "
      << (bug.found_by.empty() ? "nothing" : bug.found_by) << '\n';
  if (!bug.right_fails.empty()) out << "    the right version fails, too: " << bug.right_fails << '\n';
}

}  // namespace

void run_bugs(const CommonFlags& flags, Program& program) {
  const std::vector<BugEvidence> bugs = replayed_bugs();
  const auto count = [&](auto member) { return static_cast<std::size_t>(std::ranges::count_if(bugs, member)); };
  const std::size_t found = count(&BugEvidence::found);
  std::ostream& out = flags.json ? program.messages : program.results;
  print(out, "%-10s %8s  %-3s  %-5s\n", "class", "error", "sum", "point");
  for (const BugEvidence& bug : bugs) print_bug(out, bug);
  out << found << " of " << bugs.size() << " public gradient bugs found; a test of the sum of the output would see "
      << count(&BugEvidence::seen_by_sum) << ", one at one point " << count(&BugEvidence::seen_by_point) << '\n';
  if (flags.json) program.results << to_json(bugs) << std::endl;
  if (found < bugs.size()) program.status = 1;
}

}  // namespace retrace

// Replays a card: which checks of this project find its bug, and whether simpler tests would.
#pragma once

#include <string>
#include <vector>

#include <retrace/models/checks/bugs/bug_card.h>

namespace retrace {

struct BugEvidence {
  BugCard card;
  std::string found_by = {};     // the checks; empty: none found it
  std::string right_fails = {};  // what the same checks say of the right version; empty: nothing, as it should be
  double error = 0;              // of the gradient, relative to its largest element; of order 2, of its derivative
  bool seen_by_sum = false;      // a test whose cotangent is 1 everywhere, as that of sum(y)
  bool seen_by_point = false;    // a test at one random point, of the first element of each input

  bool found() const { return !found_by.empty() && right_fails.empty(); }
};

/// The card, replayed with the bug and without it.
BugEvidence evidence_of(const BugCard& card);
/// All cards of the collection.
std::vector<BugEvidence> replayed_bugs();

/// {"bugs", "found", "seen_by_sum", "seen_by_point", "rows", "not_replayed"}.
std::string to_json(const std::vector<BugEvidence>& bugs);

}  // namespace retrace

// The collection of real gradient bugs: public reports, most of 2025 and 2026, replayed on ops of this project.
#pragma once

#include <span>
#include <vector>

#include <retrace/models/checks/bugs/bug_card.h>

namespace retrace {

/// All cards, class by class.
std::vector<BugCard> bug_cards();

/// A report that is not replayed, and why.
struct NotReplayed {
  std::string_view source, reason;
};
std::span<const NotReplayed> reports_not_replayed();

}  // namespace retrace

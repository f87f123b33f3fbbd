#include <retrace/models/checks/bugs/bug_cards.h>

#include <array>

#include <retrace/models/checks/bugs/aliases.h>
#include <retrace/models/checks/bugs/carry.h>
#include <retrace/models/checks/bugs/formulas.h>
#include <retrace/models/checks/bugs/lost_paths.h>
#include <retrace/models/checks/bugs/masks.h>
#include <retrace/models/checks/bugs/optimisers.h>
#include <retrace/models/checks/bugs/overwrites.h>
#include <retrace/models/checks/bugs/points.h>
#include <retrace/models/checks/bugs/ranks.h>
#include <retrace/models/checks/bugs/second_order.h>
#include <retrace/models/checks/bugs/tails.h>

namespace retrace {
namespace {

constexpr std::array class_names{"carry",     "alias",     "overwrite", "tail",     "rank",      "broadcast",
                                 "tie, zero", "cotangent", "head map",  "mask",     "mask anew", "recompute",
                                 "lost path", "formula",   "order 2",   "optimiser"};

constexpr NotReplayed not_replayed[] = {
    {"mlx PR#3433", "prod lacks a conjugate: there are no complex numbers here"},
    {"pytorch#182012 (graphs)", "needs a compiler that rewrites graphs; its zero gradient is replayed"},
};

}  // namespace

std::string_view name_of(BugClass kind) { return class_names.at(static_cast<std::size_t>(kind)); }

std::vector<BugCard> bug_cards() {
  std::vector<BugCard> result;
  for (const std::span<const BugCard> cards : {std::span<const BugCard>(bugs::carry),
                                               {bugs::aliases},
                                               {bugs::overwrites},
                                               {bugs::tails},
                                               {bugs::ranks},
                                               {bugs::broadcasts},
                                               {bugs::ties_and_zeros},
                                               {bugs::cotangents},
                                               {bugs::masks},
                                               {bugs::recomputations},
                                               {bugs::lost_paths},
                                               {bugs::formulas},
                                               {bugs::second_order},
                                               {bugs::optimisers}})
    result.insert(result.end(), cards.begin(), cards.end());
  return result;
}

std::span<const NotReplayed> reports_not_replayed() { return not_replayed; }

}  // namespace retrace

// The collection of public gradient bugs: each is found, its right version passes, and every class has one.
#include <gtest/gtest.h>
#include <retrace/models/checks/bugs/bug_cards.h>
#include <retrace/models/checks/bugs/bug_evidence.h>
#include <retrace/tests/json.h>
#include <retrace/tests/models/command_line.h>

#include <regex>
#include <set>
#include <string>

namespace retrace {
namespace {

TEST(Bugs, EachIsFoundAndItsRightVersionPasses) {
  for (const BugEvidence& bug : replayed_bugs()) {
    EXPECT_NE(bug.found_by, "") << bug.card.source << ": " << bug.card.essence;
    EXPECT_EQ(bug.right_fails, "") << bug.card.source << ": " << bug.card.essence;
    EXPECT_FALSE(bug.error <= 1e-4) << bug.card.source << ": " << bug.error;
  }
}

TEST(Bugs, OfEveryClassThereIsOne) {
  std::set<BugClass> classes;
  std::set<std::string_view> sources;
  const std::regex source(
      "[\\w.-]+(/[\\w.-]+)?( quadrants)?( PR)?#\\d+(, (PR)?#\\d+|, [\\w./-]+( PR)?#\\d+)*( \\(\\w+\\))?");
  for (const BugCard& card : bug_cards()) {
    classes.insert(card.kind);
    EXPECT_TRUE(sources.insert(card.source).second) << card.source << " is there twice";
    EXPECT_TRUE(std::regex_match(std::string(card.source), source)) << card.source;
    EXPECT_NE(card.op == nullptr, card.weights == nullptr) << card.source;
  }
  EXPECT_EQ(classes.size(), static_cast<std::size_t>(BugClass::optimiser) + 1);
  EXPECT_GE(sources.size(), 50u);
}

/// What the simpler tests see is computed, so a bug that both see and one that neither sees tell whether it is.
TEST(Bugs, SomeAreUnseenBySimplerTests) {
  const auto evidence = [](std::string_view source) {
    for (const BugCard& card : bug_cards())
      if (card.source == source) return evidence_of(card);
    throw ValueError("no such card");
  };
  const BugEvidence exp = evidence("InfiniTrain PR#214 (Exp)");
  EXPECT_TRUE(exp.seen_by_sum && exp.seen_by_point);
  const BugEvidence divided = evidence("harvard-edge/cs249r_book#2056");
  EXPECT_FALSE(divided.seen_by_sum) << "1 / dy is dy";
  const BugEvidence root = evidence("stanli#144");
  EXPECT_TRUE(root.seen_by_sum) << "as NaN";
  EXPECT_FALSE(root.seen_by_point);
  const BugEvidence upsample = evidence("candle PR#3507");
  EXPECT_FALSE(upsample.seen_by_sum || upsample.seen_by_point) << "only where others use the input";
}

TEST(BugsCommand, PrintsHowManyAreFound) {
  const Outcome outcome = run_command({"gradcheck", "--bugs", "--json"});
  EXPECT_EQ(outcome.status, 0) << outcome.messages;
  const auto object = Json::parse(outcome.results);
  EXPECT_EQ(object["bugs"], object["found"]);
  EXPECT_EQ(object["rows"].size(), bug_cards().size());
  const std::string all = std::to_string(bug_cards().size());
  EXPECT_NE(outcome.messages.find(text(all, " of ", all, " public gradient bugs found")), std::string::npos)
      << outcome.messages;
  EXPECT_EQ(run_command({"gradcheck", "tanh", "--bugs"}).status, 2);
}

}  // namespace
}  // namespace retrace

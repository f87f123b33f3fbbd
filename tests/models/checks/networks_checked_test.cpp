// The gradient-check table has a row for every network of models.
#include <retrace/models/checks/module_cases.h>

#include <gtest/gtest.h>

#include <algorithm>

#include <retrace/tests/source_text.h>

namespace retrace {
namespace {

/// Checked in the rows of the networks that hold them; SequenceModel and SequenceModelOf hold any model. The last is a
/// template, whose models have rows by their own names.
const NameSet parts{"AttentionBlock", "SlotMemory",      "RelationalRNNCell",
                    "SequenceModel",  "SequenceModelOf", "SlotMemoryModel"};

TEST(NetworksChecked, EveryClassWithVisitHasARowOrIsPartOfOne) {
  NameSet rows = parts;
  for (const CheckedName& row : module_cases()) rows.insert(row.name);
  const NameSet declared = classes_with_visit_in("models/networks");
  EXPECT_TRUE(declared.contains("RmcModel")) << "the networks were not found";
  EXPECT_EQ(missing(declared, rows), "") << "each needs a row in models/checks/network_rows.h";
}

TEST(NetworksChecked, AFailureNamesAWeightByItsPath) {
  for (const CheckedName& row : module_cases())
    for (const CheckCase& one : row.cases) {
      if (!one.holds_inputs) continue;
      ASSERT_EQ(one.names.size(), one.inputs.size()) << row.name;
      EXPECT_EQ(one.names.back(), "x") << row.name;
      const bool has_query = std::ranges::find(one.names, "blocks.1.attention.query.weight") != one.names.end();
      EXPECT_EQ(has_query, row.name == "AttentionModel") << row.name;
    }
}

}  // namespace
}  // namespace retrace

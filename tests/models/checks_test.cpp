// The gradient-check table: every op and module passes, and every op is in it.
#include <retrace/models/checks/checks.h>

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

namespace retrace {
namespace {

std::string message_of(const std::vector<std::string>& names) {
  try {
    run_checks(names);
  } catch (const ValueError& error) {
    return error.what();
  }
  return "no ValueError was thrown";
}

/// One test for all that is said of the table: computing it takes longer than all other tests of a file.
TEST(Checks, EveryOpAndTheModulesHaveOneRowThatPasses) {
  std::set<std::string> names;
  for (const CheckRow& row : run_checks()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name << " has two rows";
    for (const std::string& failure : row.failures) ADD_FAILURE() << row.name << ": " << failure;
    EXPECT_LT(row.worst_error, 1e-8) << row.name;
    EXPECT_LT(row.exact_error, 1e-12) << row.name;
    EXPECT_GE(row.cases, 1) << row.name;
    EXPECT_GE(row.elements, 1) << row.name;
    EXPECT_GE(row.elements, row.cases / 2) << row.name << ": most of its cases have no elements";
  }
#define OP(name) #name,
#define COMPOSITE(name) #name,
  const std::vector<std::string> wanted{
#include <retrace/ops/ops.def>
      "Linear", "LayerNorm", "Embedding", "Rnn", "Lstm", "Gru", "MultiHeadAttention", "CellMemory", "RelationalMemory",
      "NotebookMemory", "RelationalMemoryCore", "RelationalMemoryCoreParts", "RelationalMemoryCoreVariant", "RelationalRNN", "RmcModel",
      "AttentionModel", "LanguageModel"};
#undef OP
#undef COMPOSITE
  for (const std::string& name : wanted) EXPECT_TRUE(names.contains(name)) << name << " has no row";
}

TEST(Checks, OnlyTheNamedRowsAreRun) {
  const std::vector<CheckRow> rows = run_checks({"Linear", "tanh"});
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].name, "tanh") << "ops come first, in the order of the table";
  EXPECT_EQ(rows[1].name, "Linear");
}

TEST(Checks, AnUnknownNameGetsTheNearestOne) {
  const auto expect_nearest = [](const std::string& word, const std::string& nearest) {
    const std::string begin = "gradcheck: there is no op or module named '" + word + "'; did you mean " + nearest +
                              " (known: identity, add, ";
    EXPECT_EQ(message_of({"tanh", word}).substr(0, begin.size()), begin);
  };
  expect_nearest("sofmax", "softmax");
  expect_nearest("Lsmt", "Lstm");
  expect_nearest("layernorm", "layer_norm");
  expect_nearest("", "to");
}

}  // namespace
}  // namespace retrace

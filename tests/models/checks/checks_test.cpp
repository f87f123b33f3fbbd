// The gradient-check table: every op and module passes, and every op is in it.
#include <retrace/models/checks/checks.h>
#include <retrace/models/networks/sequence_model.h>
#include <retrace/tests/errors.h>
#include <retrace/tests/temporary_folder.h>
#include <retrace/tests/trust/in_full.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

namespace retrace {
namespace {

#define OP(name, ...) #name,
#define COMPOSITE(name, ...) #name,
const std::vector<std::string> checked_ops{
#include <retrace/ops/ops.def>
};
#undef OP
#undef COMPOSITE
#define MODULE(name) #name,
#define VARIANT(name, module) #name,
#define PART(name, module) #module,
const std::vector<std::string> checked_modules{
#include <retrace/nn/modules.def>
};
#undef MODULE
#undef VARIANT
#undef PART

TEST(Checks, EveryOpAndModuleHasOneRow) {
  std::set<std::string> rows;
  for (const std::string& row : checked_names()) EXPECT_TRUE(rows.insert(row).second) << row << " has two rows";
  for (const auto& wanted : {checked_ops, checked_modules})
    for (const std::string& name : wanted) EXPECT_TRUE(rows.contains(name)) << name << " has no row";
}

void expect_to_pass(const std::vector<CheckRow>& rows) {
  for (const CheckRow& row : rows) {
    for (const std::string& failure : row.failures) ADD_FAILURE() << row.name << ": " << failure;
    EXPECT_LT(row.worst_error, 1e-8) << row.name;
    EXPECT_LT(row.exact_error, 1e-12) << row.name;
    EXPECT_GE(row.cases, 1) << row.name;
    EXPECT_GE(row.elements, 1) << row.name;
    EXPECT_GE(row.elements, row.cases / 2) << row.name << ": most of its cases have no elements";
  }
}

TEST(Checks, EveryOpPasses) { expect_to_pass(run_checks(checked_ops)); }

/// With the ops again, which take little of the time, since the README counts the elements of both.
TEST(Checks, EveryModulePasses) {
  std::vector<CheckRow> rows = run_checks();
  expect_to_pass(rows);
  const auto registered = registered_model_names();
  std::erase_if(rows, [&](const CheckRow& row) { return std::ranges::find(registered, row.name) != registered.end(); });
  std::string digits = std::to_string(total_of(rows).elements);
  for (std::size_t k = digits.size(); k > 3; k -= 3) digits.insert(k - 3, ",");
  const std::string readme = file_bytes(RETRACE_SOURCE_DIR "/README.md");
  EXPECT_NE(readme.find("all ops and modules, " + digits + " elements"), std::string::npos) << digits;
}

/// The derivatives of the gradients.
TEST(Checks, EveryOpPassesInSecondOrder) { expect_to_pass(run_checks(checked_ops, 2)); }
TEST(Checks, EveryModulePassesInSecondOrder) {
  std::vector<std::string> modules = checked_names();
  std::erase_if(modules,
                [](const std::string& row) { return std::ranges::find(checked_ops, row) != checked_ops.end(); });
  expect_to_pass(run_checks(modules, 2));
}

/// Other cotangents and directions: no pass rests on a lucky one. In full, of modules and second derivatives, too.
TEST(Checks, EveryOpPassesWithOtherSeeds) {
  if (!in_full()) return expect_to_pass(run_checks(checked_ops, 1, 1));
  for (const std::uint64_t seed : {1, 2, 3, 4, 5})
    for (const int order : {1, 2}) expect_to_pass(run_checks({}, order, seed));
}

TEST(Checks, OnlyTheNamedRowsAreRun) {
  std::vector<std::string> run;
  for (const CheckRow& row : run_checks({"Lstm", "tanh"})) run.push_back(row.name);
  EXPECT_EQ(run, (std::vector<std::string>{"tanh", "Lstm"})) << "ops come first, in the order of the table";
}

TEST(Checks, ANameMeansEveryOpModuleAndModelThatIsCalledSo) {
  using Names = std::vector<std::string>;
  for (const char* name : {"lstm", "Lstm", "LSTM"}) EXPECT_EQ(checked_names({name}), Names{"Lstm"});
  EXPECT_EQ(checked_names({"linear"}), (Names{"linear", "Linear"}));
  EXPECT_EQ(checked_names({"Linear", "linear"}), (Names{"linear", "Linear"})) << "once each";
  for (const char* name : {"layer_norm", "layer-norm", "layernorm", "LayerNorm"})
    EXPECT_EQ(checked_names({name}), (Names{"layer_norm", "LayerNorm"}));
  EXPECT_EQ(checked_names({"relational-rnn"}), Names{"RelationalRNN"});
  EXPECT_EQ(checked_names({"rmc"}), Names{"RmcModel"});
  EXPECT_EQ(checked_names({"attention"}), (Names{"attention", "AttentionModel"}));
}

TEST(Checks, EveryModelOfTheProgramCanBeNamed) {
  for (const std::string_view model : model_names()) EXPECT_FALSE(checked_names({std::string(model)}).empty()) << model;
}

TEST(Checks, AnUnknownNameGetsTheNearestOne) {
  const auto expect_nearest = [](const std::string& word, const std::string& nearest) {
    const std::string begin = "gradcheck: there is no op or module named '" + word + "'; did you mean " + nearest +
                              " (retrace gradcheck --list lists all ";
    EXPECT_EQ(message_of([&] { run_checks({"tanh", word}); }).substr(0, begin.size()), begin);
  };
  expect_nearest("sofmax", "softmax");
  expect_nearest("Lsmt", "Lstm");
  expect_nearest("layernrom", "layer_norm");
  expect_nearest("", "to");
}

}  // namespace
}  // namespace retrace

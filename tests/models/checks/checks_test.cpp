// The gradient-check table: every op and module passes, and every op is in it.
#include <retrace/models/checks/checks.h>
#include <retrace/models/networks/sequence_model.h>
#include <retrace/tests/errors.h>

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

namespace retrace {
namespace {

std::vector<std::string> names_of(const std::vector<std::string>& wanted) {
  std::vector<std::string> names;
  for (const CheckRow& row : run_checks(wanted)) names.push_back(row.name);
  return names;
}

TEST(Checks, EveryModelByNameHasARow) {
  for (const std::string_view model : model_names()) EXPECT_NO_THROW(run_checks({std::string(model)})) << model;
}

/// A single test for all properties of the table, because computing it takes longer than all other tests of the file.
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
#define MODULE(name) #name,
#define VARIANT(name, module) #name,
#define PART(name, module) #module,
  const std::vector<std::string> wanted{
#include <retrace/nn/modules.def>
#include <retrace/ops/ops.def>
  };
#undef OP
#undef COMPOSITE
#undef MODULE
#undef VARIANT
#undef PART
  for (const std::string& name : wanted) EXPECT_TRUE(names.contains(name)) << name << " has no row";
}

TEST(Checks, OnlyTheNamedRowsAreRun) {
  EXPECT_EQ(names_of({"Lstm", "tanh"}), (std::vector<std::string>{"tanh", "Lstm"}))
      << "ops come first, in the order of the table";
}

TEST(Checks, ANameMeansEveryOpModuleAndModelThatIsCalledSo) {
  using Names = std::vector<std::string>;
  for (const char* name : {"lstm", "Lstm", "LSTM"}) EXPECT_EQ(names_of({name}), Names{"Lstm"});
  EXPECT_EQ(names_of({"linear"}), (Names{"linear", "Linear"}));
  EXPECT_EQ(names_of({"Linear", "linear"}), (Names{"linear", "Linear"})) << "once each";
  for (const char* name : {"layer_norm", "layer-norm", "layernorm", "LayerNorm"})
    EXPECT_EQ(names_of({name}), (Names{"layer_norm", "LayerNorm"}));
  EXPECT_EQ(names_of({"relational-rnn"}), Names{"RelationalRNN"});
  EXPECT_EQ(names_of({"rmc"}), Names{"RmcModel"});
  EXPECT_EQ(names_of({"attention"}), (Names{"attention", "AttentionModel"}));
}

TEST(Checks, EveryModelOfTheProgramCanBeNamed) {
  for (const std::string_view model : model_names()) EXPECT_FALSE(names_of({std::string(model)}).empty()) << model;
}

TEST(Checks, AnUnknownNameGetsTheNearestOne) {
  const auto expect_nearest = [](const std::string& word, const std::string& nearest) {
    const std::string begin = "gradcheck: there is no op or module named '" + word + "'; did you mean " + nearest +
                              " (known: identity, add, ";
    EXPECT_EQ(message_of([&] { run_checks({"tanh", word}); }).substr(0, begin.size()), begin);
  };
  expect_nearest("sofmax", "softmax");
  expect_nearest("Lsmt", "Lstm");
  expect_nearest("layernrom", "layer_norm");
  expect_nearest("", "to");
}

}  // namespace
}  // namespace retrace

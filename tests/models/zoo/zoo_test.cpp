// The models and tasks of the zoo by name: they register themselves as a program registers its own.
#include <gtest/gtest.h>
#include <retrace/models/checks/checks.h>
#include <retrace/models/networks/sequence_model.h>
#include <retrace/models/reports/comparison/ablation.h>
#include <retrace/models/tasks/recipes.h>
#include <retrace/models/training/run.h>
#include <retrace/models/zoo/babi_qa/babi_qa.h>
#include <retrace/tests/errors.h>
#include <retrace/tests/json.h>
#include <retrace/tests/models/command_line.h>

#include <algorithm>

namespace retrace {
namespace {

TEST(Zoo, IsACollectionThatInfoLists) {
  EXPECT_EQ(models_in("zoo").size(), 8U);
  EXPECT_EQ(tasks_in("zoo").size(), 16U);
  for (const std::string_view name : models_in("zoo")) EXPECT_EQ(listed_models().find(name), std::string::npos) << name;
  EXPECT_TRUE(listed_tasks().ends_with("execute and those of the zoo (retrace info zoo)")) << listed_tasks();
  const Outcome words = run_command({"info", "zoo"});
  EXPECT_EQ(words.status, 0);
  EXPECT_TRUE(words.results.starts_with("models: delta-net, mlstm, stack-rnn,")) << words.results;
  EXPECT_NE(words.results.find("\ntasks: babi-qa, even-pairs,"), std::string::npos) << words.results;
  const auto json = Json::parse(run_command({"info", "zoo", "--json"}).results);
  EXPECT_EQ(json.at("collection"), "zoo");
  EXPECT_EQ(json.at("models").size(), 8U);
  EXPECT_EQ(json.at("tasks").back(), "bucket-sort");
}

TEST(Zoo, ItsModelsAreCheckedAsRegisteredOnes) {
  for (const std::string_view name : models_in("zoo")) {
    const std::vector<std::string> rows = checked_names({std::string(name)});
    EXPECT_NE(std::ranges::find(rows, name), rows.end()) << name;
  }
  const std::vector<CheckRow> rows = run_checks({"ntm"});
  const auto row = std::ranges::find(rows, "ntm", &CheckRow::name);
  ASSERT_NE(row, rows.end());
  EXPECT_EQ(row->cases, 3) << "with dropout, and its last answers, too";
}

TEST(Zoo, ItsTasksHaveOptions) {
  EXPECT_EQ(make_task("babi-qa", {.facts = 20})->sequence_length(), 21);
  EXPECT_EQ(make_task("babi-qa", {.kind = "counting"})->output_size(), 49);
  constexpr std::int64_t huge = std::int64_t{1} << 60;
  EXPECT_THROW(BabiQa({.facts = huge}), Error);
}

TEST(Zoo, ARecipeForEveryOtherTaskIsOfTheLibrarysTasksAlone) {
  EXPECT_EQ(recipe_for("parity", "mlstm").learning_rate, 3e-3);
  EXPECT_EQ(recipe_for("parity", "mlstm").steps, recipe_for("parity").steps);
  EXPECT_EQ(recipe_for(data_task, "mlstm").learning_rate, recipe_for(data_task).learning_rate);
}

TEST(Zoo, AModelsOwnSlotsAndHeadsComeBeforeTheTasks) {
  const auto sizes = [](const char* model, const SizeOptions& given) {
    return prepare(RunOptions{.task = "recall", .model = {.name = model, .sizes = given}}).options.model.sizes;
  };
  EXPECT_EQ(sizes("rmc", {}).slots, 4);
  EXPECT_EQ(sizes("ntm", {}).slots, 16);
  EXPECT_EQ(sizes("ntm", {}).heads, 1);
  EXPECT_EQ(sizes("ntm", {}).slot_size, 32) << "of the task";
  EXPECT_EQ(sizes("ntm", {.slots = 8, .heads = 2}).slots, 8);
  EXPECT_EQ(sizes("ntm", {.slots = 8, .heads = 2}).heads, 2);
}

TEST(Zoo, HeadsNeedNotDivideSlots) {
  EXPECT_NO_THROW(prepare(RunOptions{.task = "recall", .model = {.name = "mlstm", .sizes = {.heads = 3}}}))
      << "heads divide its state, not slots of 32";
  EXPECT_NO_THROW(prepare(RunOptions{.task = "recall", .model = {.name = "dnc", .sizes = {.heads = 3}}}))
      << "each read head reads a whole slot";
  EXPECT_NO_THROW(prepare({.task = "babi", .model = {.name = "mlstm", .sizes = {.slot_size = 16}}}))
      << "the memory of each head has as many features";
}

TEST(Zoo, AnAblationDescribesABaselineByWhatItHas) {
  AblateOptions options{
      .run = {.task = "pair-matching",
              .model = {.name = "notebook-memory", .sizes = {.hidden = 12, .slot_size = 8, .slots = 4, .heads = 2}}}};
  EXPECT_EQ(variations_of(options).kept.front().setting, "2 heads, 4 slots of 8");
  options.run.model.name = "delta-net";
  options.run.model.sizes.slots = std::nullopt;
  EXPECT_EQ(variations_of(options).kept.front().setting, "2 heads");
}

}  // namespace
}  // namespace retrace

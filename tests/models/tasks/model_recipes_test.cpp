#include <gtest/gtest.h>
#include <retrace/models/networks/sequence_model.h>
#include <retrace/models/tasks/recipes.h>
#include <retrace/models/training/optimizer_choice.h>
#include <retrace/models/training/run.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>

namespace retrace {
namespace {

TEST(ModelRecipes, EachNamesATaskAndAModelOnceAndChangesSomething) {
  std::set<std::pair<std::string_view, std::string_view>> seen;
  for (const ModelRecipe& row : model_recipes()) {
    SCOPED_TRACE(std::string(row.task) + " by " + std::string(row.model));
    EXPECT_TRUE(seen.emplace(row.task, row.model).second);
    if (row.task != every_other_task) {
      EXPECT_NO_THROW(recipe_for(row.task));
    }
    EXPECT_NE(std::ranges::find(model_names(), row.model), model_names().end());
    const std::string_view task = row.task == every_other_task ? "parity" : row.task;
    const Recipe of_task = recipe_for(task), recipe = recipe_for(task, row.model);
    EXPECT_GT(recipe.learning_rate, 0);
    EXPECT_GT(recipe.steps, 0);
    EXPECT_TRUE(recipe.learning_rate != of_task.learning_rate || recipe.steps != of_task.steps ||
                recipe.schedule != of_task.schedule || !(recipe.sizes == of_task.sizes));
    EXPECT_NE(std::ranges::find(optimizer_names(), recipe.optimizer), optimizer_names().end());
    EXPECT_EQ(recipe.batch, of_task.batch);
  }
}

TEST(ModelRecipes, ATrainingByNamesUsesThatOfItsModel) {
  for (const ModelRecipe& row : model_recipes()) {
    if (row.task == every_other_task || row.task == text_task) continue;  // it needs a file
    const Recipe recipe = recipe_for(row.task, row.model);
    const RunOptions options =
        prepare({.task = std::string(row.task), .model = {.name = std::string(row.model)}}).options;
    EXPECT_EQ(options.fit.learning_rate, recipe.learning_rate);
    EXPECT_EQ(options.fit.steps, recipe.steps);
    EXPECT_EQ(options.fit.schedule, recipe.schedule);
    EXPECT_EQ(options.fit.optimizer, recipe.optimizer);
    EXPECT_EQ(options.model.form.causal.value_or(false), recipe.causal);
    EXPECT_EQ(options.model.sizes.or_else(row.sizes), row.sizes.or_else(options.model.sizes));
  }
}

TEST(ModelRecipes, WhatIsGivenComesFirst) {
  RunOptions options{.task = "pair-matching", .model = {.name = "rmc", .sizes = {.slots = 3}}};
  options.fit = {.steps = 5, .learning_rate = 0.25};
  const RunOptions filled = prepare(options).options;
  EXPECT_EQ(filled.fit.steps, 5);
  EXPECT_EQ(filled.fit.learning_rate, 0.25);
  EXPECT_EQ(filled.model.sizes.slots, 3);
  EXPECT_EQ(filled.fit.schedule, recipe_for("pair-matching", "rmc").schedule);
  const ModelForm all_rows{.causal = false};
  EXPECT_EQ(prepare({.task = "parity", .model = {.name = "attention", .form = all_rows}}).options.model.form, all_rows);
}

TEST(ModelRecipes, AModelWithoutOneHasTheTasks) {
  const Recipe recipe = recipe_for("pair-matching", "lstm"), of_task = recipe_for("pair-matching");
  EXPECT_EQ(recipe.learning_rate, of_task.learning_rate);
  EXPECT_EQ(recipe.steps, of_task.steps);
  EXPECT_THROW(recipe_for("pair-machting", "lstm"), ValueError);
}

}  // namespace
}  // namespace retrace

// The default settings of training for each task, and for the models that need others.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include <retrace/models/networks/model_spec.h>
#include <retrace/models/tasks/dataset.h>

namespace retrace {

/// Sizes and settings by which a task is trained unless others are given.
struct Recipe {
  SizeOptions sizes = {};       // if not given: hidden 64, and for a relational memory 4 slots of 32, 2 heads
  bool slot_per_row = false;    // one slot per row of the sequence, instead of sizes.slots
  bool slot_of_hidden = false;  // slots of `hidden` features, rounded down to a multiple of the heads
  std::int64_t batch = 64;
  std::string_view optimizer = "adam";
  double learning_rate = 1e-2;
  std::int64_t steps = 3000;
  std::string_view schedule = "cosine";
  double b2 = 0.98;     // of Adam: a short memory of squares leaves a plateau sooner than 0.999
  bool causal = false;  // for models of attention: a row sees only itself and those before it
};

/// Stands for the tasks for which a model has no row of its own; not for the data of users.
inline constexpr std::string_view every_other_task = "";

/// The settings by which one model learns a task where they differ from the task's recipe, as `retrace tune` finds
/// them.
struct ModelRecipe {
  std::string_view task, model;
  SizeOptions sizes = {};
  std::optional<double> learning_rate = {};
  std::optional<std::int64_t> steps = {};
  std::string_view schedule = {};   // empty: the task's
  std::string_view optimizer = {};  // likewise
  bool causal = false;
  bool slot_of_hidden = false;
};

/// Adds a task of your own, with its recipe, to those that make_task, and so `retrace train` and `compare`, know.
/// Throws ValueError for a name that is taken or cannot be written on a command line, for no factory, and for numbers
/// of the recipe that are not above 0, or a b2 that is not from 0 to below 1. Not while another thread uses these
/// functions.
void register_task(std::string_view name, TaskFactory factory, const Recipe& recipe = {});

/// A task that has some of the TaskOptions, "length, keys": `make` makes it with those that are given. Lists of tasks
/// give the name of the collection instead of those in it. Throws likewise.
void register_task(std::string_view name, std::string_view option_names, TaskMaker make, const Recipe& recipe,
                   std::string_view collection = {});

/// Data of your own as a task: see tasks/dataset.h, whose errors it throws, too. Numbers reach the model as they are;
/// `retrace train data` scales them, as DatasetOptions{.normalise = Normalisation::standard} does.
void register_task(std::string_view name, const Tensor& x, const Tensor& y, const Recipe& recipe = {},
                   const DatasetOptions& options = {});
/// Sequences of different lengths, as pad() gives them.
void register_task(std::string_view name, const PaddedBatch& x, const Tensor& y, const Recipe& recipe = {},
                   DatasetOptions options = {});

/// Whether a task has the option of that name (task_option_rows()). Throws ValueError for a task that is not known.
bool has_option(std::string_view task, std::string_view option);
/// Throws ValueError for an option that is given and that the task does not have, or for a task that is not known.
void check_task_options(std::string_view task, const TaskOptions& given);
/// The recipe of a task. Throws ValueError for a task that is not known.
const Recipe& recipe_for(std::string_view task);
/// The recipe by which a model learns a task: the task's, changed by the ModelRecipe of the two if there is one. Throws
/// likewise.
Recipe recipe_for(std::string_view task, std::string_view model);
/// The rows that recipe_for() knows, and a further one, whose names stay where they are.
std::span<const ModelRecipe> model_recipes();
void register_recipe(const ModelRecipe& recipe);
/// The sizes that the recipe gives to a model of the task, all of them.
SizeOptions sizes_for(const Task& task, const Recipe& recipe);

}  // namespace retrace

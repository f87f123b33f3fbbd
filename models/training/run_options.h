// One training by names and numbers, as a command line has it.
#pragma once

#include <memory>
#include <string>

#include <retrace/models/networks/sequence_model.h>
#include <retrace/models/tasks/recipes.h>
#include <retrace/models/training/fit_options.h>

namespace retrace {

/// A training by names and numbers.
struct RunOptions {
  std::string task;  // one of all_task_names()
  ModelSpec model;   // sizes that are not chosen are the recipe's
  Dtype dtype = f32;
  TaskOptions task_options = {};
  std::string from = {};  // a stored run (folder or file) with whose model and weights the training begins; of
                          // `model`, only the dropout is then used
  bool draws = true;      // the initial weights; false where a checkpoint's replace them before the first step
  FitOptions fit = {};    // the recipe's numbers where none are given
};

/// The model with every size chosen: by the options, otherwise by the recipe.
ModelSpec filled_spec(const RunOptions& options, const Task& task);
/// Makes a model for a task: for a text, a LanguageModel with the tokens of its vocabulary, whose embedding is tied to
/// the logits for words. Throws what make_model throws.
std::unique_ptr<SequenceModel> make_model_for(const Task& task, const ModelSpec& spec, Random& random);
/// `retrace train TASK ...` with the options that are given or differ from the defaults: those of the task, the
/// model with its sizes, memory and layers, the training, the dtype. Arguments that a shell would take apart are
/// quoted. The seed, files and callbacks, which belong to one training, are left out.
std::string train_command(const RunOptions& options);

}  // namespace retrace

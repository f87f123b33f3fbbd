// The flags of the commands that train: train, compare, ablate and tune.
#include <retrace/models/cli/command_flags.h>
#include <retrace/models/cli/number_options.h>
#include <retrace/models/cli/options.h>
#include <retrace/models/networks/model_options.h>
#include <retrace/models/training/presets.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

namespace retrace {
namespace {

/// A task, a file of data or a text, with their options. `more` is said of other tasks than the samples' ones.
CLI::Option* add_task(CLI::App& command, RunOptions& run, const std::string& more) {
  CLI::Option* task = command.add_option("task", run.task, listed_tasks() + more);
  add_options(command, task_option_rows(), run.task_options);
  return task;
}

constexpr const char* data_or_text = ", or data: your own, in --data FILE, or text: that of --text FILE";

void add_model_name(CLI::App& command, ModelSpec& model, std::span<const std::string_view> names) {
  command.add_option("--model", model.name, listed_models(names))
      ->capture_default_str()
      ->group(title_of(OptionGroup::model));
}

void add_dtype_option(CLI::App& command, Dtype& dtype) {
  const auto choose = [&dtype](const std::string& name) { dtype = name == "f64" ? f64 : f32; };
  command.add_option_function<std::string>("--dtype", choose, "f32 or f64")
      ->check(CLI::IsMember({"f32", "f64"}))
      ->default_str("f32")
      ->group(title_of(OptionGroup::model));
}

/// The model, by name with its memory, form and size, or a stored one. Returns the flags that a stored one excludes:
/// CLI11's own excludes() would list them all in the help.
std::vector<const CLI::Option*> add_model_options(CLI::App& command, RunOptions& run) {
  const std::ptrdiff_t before = std::ssize(command.get_options());
  add_model_name(command, run.model, model_names());
  add_options(command, model_option_rows(), run.model);
  const std::vector<CLI::Option*> options = command.get_options();
  std::vector<const CLI::Option*> of_new_models(options.begin() + before, options.end());
  std::erase_if(of_new_models, [](const CLI::Option* option) { return option->get_name() == "--dropout"; });
  command
      .add_option("--from", run.from,
                  "stored run, a folder or a file, whose model and weights are the start, instead of a new model")
      ->check(not_empty)
      ->group(title_of(OptionGroup::files));
  return of_new_models;
}

/// Throws if a flag of a new model is given beside a stored one.
void check_model_flags(const RunOptions& run, const std::vector<const CLI::Option*>& of_new_models) {
  if (run.from.empty()) return;
  for (const CLI::Option* option : of_new_models)
    if (option->count() > 0) throw CLI::ExcludesError(option->get_name(), "--from");
}

/// --out, checkpoints there, --resume and --force.
void add_run_folder_options(CLI::App& command, TrainFlags& flags) {
  FitOptions& fit = flags.run.fit;
  constexpr const char* files =
      "folder for weights.safetensors, checkpoint.safetensors, metrics.jsonl and .csv, curves.svg, result.json";
  CLI::Option* out = add_common_flags(command, flags, {.out = files}).out;
  command
      .add_flag("--find-learning-rate", flags.find_learning_rate,
                "instead of a training, the losses of 100 steps whose learning rate rises, and a suggestion")
      ->excludes(out)
      ->group(title_of(OptionGroup::training));
  command
      .add_flag("--watch-gradients", fit.watch_gradients,
                "the gradient norm of each layer in the metrics and in curves.svg")
      ->needs(out)
      ->group(title_of(OptionGroup::files));
  command
      .add_option("--timeline", flags.timeline,
                  "file for the times of each record in the first five steps, which ui.perfetto.dev opens")
      ->check(not_empty)
      ->type_name("FILE")
      ->group(title_of(OptionGroup::files));
  add_number(command, "--checkpoint-seconds", fit.checkpoint_seconds, "minimum time between two checkpoints",
             number_of_0_or_more)
      ->group(title_of(OptionGroup::files));
  add_common_flags(command, flags,
                   {.resume = "go on from the checkpoint in that folder, if there is one",
                    .force = "start over if that folder has a training already"},
                   out);
}

/// The output of compare and of ablate.
CommonDescriptions comparison_flags(const char* out) {
  return {.out = out,
          .resume = "go on with the runs in that folder",
          .force = "replace earlier results in that folder",
          .json = "print the result as one JSON object",
          .quiet = true};
}

}  // namespace

void add_train_command(CLI::App& app, Program& program) {
  const auto flags = std::make_shared<TrainFlags>();
  RunOptions& run = flags->run;
  CLI::App* command = app.add_subcommand("train", "Trains a model on a task and tests it on samples it has not seen");
  // First, because the other flags change what it sets.
  command->add_option_function<std::string>(
      "--preset", [&run](const std::string& name) { run = preset(name); },
      joined(preset_names()) + ": a task, a model and their settings by one name; other flags change it");
  add_task(*command, run, ", or data: your own, in --data FILE, or text: the next characters or words of --text FILE");
  const std::vector<const CLI::Option*> of_new_models = add_model_options(*command, run);
  add_seed(*command, "--seed", run.fit.seed, "seed of weights, batches and tests")
      ->group(title_of(OptionGroup::training));
  add_threads_option(*command, *flags);
  add_dtype_option(*command, run.dtype);
  add_options(*command, fit_option_rows(), run.fit);
  add_run_folder_options(*command, *flags);
  add_common_flags(*command, *flags, {.json = "print the result as one JSON object", .quiet = true});
  command->callback([flags, of_new_models, &program] {
    if (flags->run.task.empty()) throw CLI::RequiredError("task");
    check_model_flags(flags->run, of_new_models);
    run_train(*flags, program);
  });
}

void add_compare_command(CLI::App& app, Program& program) {
  const auto flags = std::make_shared<CompareFlags>();
  CompareOptions& compare = flags->compare;
  CLI::App* command =
      app.add_subcommand("compare", "Trains several models on a task with several seeds, and compares them");
  add_task(*command, compare.run, data_or_text)->required();
  add_list(*command, "--models", compare.models,
           "models, separated by commas; relational-rnn:gated chooses a memory, rmc@0.002 a learning rate")
      ->required()
      ->group(title_of(OptionGroup::model));
  add_count(*command, "--seeds", compare.seeds, "number of seeds");
  command->add_option("--match", flags->match, "what the models' sizes are matched by: parameters, flops or none")
      ->check(CLI::IsMember({"parameters", "flops", "none"}))
      ->capture_default_str();
  add_list(*command, "--learning-rates", compare.learning_rates,
           "learning rates tried for each model, separated by commas (default: that of the model's recipe)",
           number_above_0);
  add_number(*command, "--threshold", compare.threshold,
             "metric, the time to which is reported (default: half of what can be learned)", any_number);
  add_options(*command, model_option_rows(), compare.run.model);
  add_threads_option(*command, *flags);
  add_options(*command, fit_option_rows(), compare.run.fit);
  add_common_flags(*command, *flags, comparison_flags("folder for compare.html, result.json and the runs"));
  command->callback([flags, &program] { run_compare(*flags, program); });
}

void add_ablate_command(CLI::App& app, Program& program) {
  const auto flags = std::make_shared<AblateFlags>();
  AblateOptions& ablate = flags->ablate;
  CLI::App* command = app.add_subcommand(
      "ablate", "Trains a model and its variations, each with one part of its memory changed, and compares them");
  add_task(*command, ablate.run, ", or text: that of --text FILE")->required();
  add_model_name(*command, ablate.run.model, memory_model_names());
  add_options(*command, model_option_rows(), ablate.run.model);
  add_list(*command, "--factors", ablate.factors,
           joined(memory_part_names()) + ", separated by commas (default: all that the model has)");
  add_count(*command, "--seeds", ablate.seeds, "number of seeds");
  add_threads_option(*command, *flags);
  add_options(*command, fit_option_rows(), ablate.run.fit);
  add_common_flags(*command, *flags, comparison_flags("folder for ablate.html, result.json and the runs"));
  command->callback([flags, &program] { run_ablate(*flags, program); });
}

void add_tune_command(CLI::App& app, Program& program) {
  const auto flags = std::make_shared<TuneFlags>();
  TuneOptions& tune = flags->tune;
  CLI::App* command = app.add_subcommand(
      "tune", "Searches for the learning rate, the schedule and the size by which a model learns a task");
  add_task(*command, tune.run, data_or_text)->required();
  add_model_name(*command, tune.run.model, model_names());
  add_options(*command, model_option_rows(), tune.run.model);
  add_list(*command, "--learning-rates", tune.learning_rates, "learning rates to choose from, separated by commas",
           number_above_0);
  add_list(*command, "--schedules", tune.schedules, "schedules to choose from, separated by commas");
  add_list(*command, "--scales", tune.scales, "factors of the recipe's sizes to choose from, separated by commas",
           number_above_0);
  add_count(*command, "--rounds", tune.rounds,
            "number of rounds, each with half of the candidates and twice the steps");
  add_count(*command, "--plateau-steps", tune.plateau_steps,
            "keep candidates on a plateau for at least this many steps (default: half of --steps)");
  add_threads_option(*command, *flags);
  add_options(*command, fit_option_rows(), tune.run.fit);
  add_common_flags(*command, *flags, comparison_flags("folder for tuning.txt, result.json and the runs"));
  command->callback([flags, &program] { run_tune(*flags, program); });
}

}  // namespace retrace

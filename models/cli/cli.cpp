#include <retrace/core/error.h>
#include <retrace/core/printable.h>
#include <retrace/models/cli/cli.h>
#include <retrace/models/cli/commands.h>
#include <retrace/models/cli/number_options.h>
#include <retrace/models/cli/options.h>
#include <retrace/models/cli/output_stream.h>
#include <retrace/models/cli/stored_run_flags.h>
#include <retrace/models/demos/demos.h>
#include <retrace/models/formats/nearest_name.h>
#include <retrace/models/training/presets.h>

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <new>
#include <string>
#include <vector>

namespace retrace {
namespace {

constexpr int usage_error = 2;
constexpr int failure = 1;

/// Adds --out, and --force, which lets the command replace earlier results in that folder.
void add_out_options(CLI::App& command, std::string& out, bool& force, const char* description) {
  CLI::Option* folder = command.add_option("--out", out, description);
  command.add_flag("--force", force, "replace the results of an earlier one in that folder")->needs(folder);
}

void add_train_command(CLI::App& app, TrainFlags& flags, Program& program) {
  CLI::App* command = app.add_subcommand("train", "Trains a model on a task and tests it on samples it has not seen");
  // The first of all: what else is given changes it.
  command->add_option_function<std::string>(
      "--preset", [&](const std::string& name) { flags.run = preset(name); },
      joined(preset_names()) + ": a task, a model and their settings by one name; other flags change it");
  command->add_option("task", flags.run.task, joined(task_names()) + ", or text: what comes next in --text FILE");
  add_task_options(*command, flags.run.task_options);
  command->add_option("--text", flags.run.text.file, "text: a file in UTF-8; the last 5 % of it are for the test");
  command->add_option("--tokens", flags.tokens, "text: characters (the default) or words")
      ->check(CLI::IsMember({"characters", "words"}));
  command->add_option("--model", flags.run.model.name, joined(model_names()))->capture_default_str();
  add_memory_options(*command, flags.run.model);
  add_count(*command, "--hidden", flags.run.model.sizes.hidden, "size of the model's state (default: the task's)");
  add_seed(*command, "--seed", flags.run.fit.seed, "of weights, batches and tests");
  add_threads_option(*command, flags.threads);
  command->add_option("--dtype", flags.dtype, "f32 or f64")
      ->check(CLI::IsMember({"f32", "f64"}))
      ->capture_default_str();
  add_training_options(*command, flags.run.fit);
  CLI::Option* out = command->add_option(
      "--out", flags.out,
      "folder for weights.safetensors, checkpoint.safetensors, metrics.jsonl, curves.svg, result.json");
  add_number(*command, "--checkpoint-seconds", flags.run.fit.checkpoint_seconds, "least time between two checkpoints",
             number_of_0_or_more)
      ->default_str(text(flags.run.fit.checkpoint_seconds));
  CLI::Option* resume =
      command->add_flag("--resume", flags.run.fit.resume, "go on from the checkpoint in that folder, if there is one")
          ->needs(out);
  command->add_flag("--force", flags.force, "start over where that folder has a training already")
      ->needs(out)
      ->excludes(resume);
  command->add_flag("--json", flags.json, "print the result as one JSON object");
  command->add_flag("--quiet", flags.quiet, "show no progress");
  command->callback([&] {
    if (flags.run.task.empty()) throw CLI::RequiredError("task");
    run_train(flags, program);
  });
}

void add_compare_command(CLI::App& app, CompareFlags& flags, Program& program) {
  CompareOptions& compare = flags.compare;
  CLI::App* command = app.add_subcommand("compare", "Trains several models on a task with several seeds, and compares");
  command->add_option("task", compare.run.task, joined(task_names()))->required();
  add_task_options(*command, compare.run.task_options);
  add_list(*command, "--models", compare.models, "separated by commas; relational-rnn:gated chooses a memory")
      ->required();
  add_count(*command, "--seeds", compare.seeds, "how many")->default_str(std::to_string(compare.seeds));
  command->add_option("--match", flags.match, "sizes of the models: parameters, flops or none")
      ->check(CLI::IsMember({"parameters", "flops", "none"}))
      ->capture_default_str();
  add_list(*command, "--learning-rates", compare.learning_rates,
           "tried for each model, separated by commas (default: the task's)", number_above_0);
  add_number(*command, "--threshold", compare.threshold,
             "of the metric, whose time is told (default: half of what can be learned)", any_number);
  add_count(*command, "--hidden", compare.run.model.sizes.hidden,
            "size of the first model's state (default: the task's)");
  add_threads_option(*command, flags.threads);
  add_training_options(*command, compare.run.fit);
  add_out_options(*command, flags.out, flags.force, "folder for compare.html and result.json");
  command->add_flag("--json", flags.json, "print the result as one JSON object");
  command->add_flag("--quiet", flags.quiet, "show no progress");
  command->callback([&] { run_compare(flags, program); });
}

void add_ablate_command(CLI::App& app, AblateFlags& flags, Program& program) {
  AblateOptions& ablate = flags.ablate;
  CLI::App* command =
      app.add_subcommand("ablate", "Trains a model with each part of its memory changed alone, and compares");
  command->add_option("task", ablate.run.task, joined(task_names()))->required();
  add_task_options(*command, ablate.run.task_options);
  command->add_option("--model", ablate.run.model.name, joined(memory_model_names()))->capture_default_str();
  add_memory_options(*command, ablate.run.model);
  add_list(*command, "--factors", ablate.factors,
           joined(memory_part_names()) + ", separated by commas (default: all that the model has)");
  add_count(*command, "--seeds", ablate.seeds, "how many")->default_str(std::to_string(ablate.seeds));
  add_count(*command, "--hidden", ablate.run.model.sizes.hidden, "size of the model's state (default: the task's)");
  add_threads_option(*command, flags.threads);
  add_training_options(*command, ablate.run.fit);
  add_out_options(*command, flags.out, flags.force, "folder for ablate.html and result.json");
  command->add_flag("--json", flags.json, "print the result as one JSON object");
  command->add_flag("--quiet", flags.quiet, "show no progress");
  command->callback([&] { run_ablate(flags, program); });
}

void add_gradcheck_command(CLI::App& app, GradcheckFlags& flags, Program& program) {
  CLI::App* command = app.add_subcommand("gradcheck", "Holds gradients against dual numbers and finite differences");
  command->add_option("names", flags.names, "ops, modules and registered models (default: all)");
  command->add_flag("--json", flags.json, "print the result as one JSON object");
  command->callback([&] { run_gradcheck(flags, program); });
}

void add_info_command(CLI::App& app, InfoFlags& flags, Program& program) {
  CLI::App* command = app.add_subcommand("info", "Prints what a model is made of and what a step computes");
  command->add_option("model", flags.run.model.name, joined(model_names()))->required();
  command->add_option("--task", flags.run.task, "whose sizes it takes")->capture_default_str();
  add_memory_options(*command, flags.run.model);
  command->add_flag("--json", flags.json, "print it as one JSON object");
  command->callback([&] { run_info(flags, program); });
}

void add_demo_command(CLI::App& app, DemoFlags& flags, Program& program) {
  CLI::App* command = app.add_subcommand("demo", "Checks every gradient, trains two models on two tasks, and compares");
  std::string names;
  for (const std::string_view name : demo_names()) names += text(name, ", ");
  CLI::Option* name = command->add_option("name", flags.name, text("instead, the tables of one: ", names, "or all"));
  add_count(*command, "--steps", flags.steps, "updates of each training, without a name (default: the task's)")
      ->excludes(name);
  command->add_flag("--json", flags.json, "print what was found as one JSON object");
  command->callback([&] { run_demo(flags, program); });
}

/// The command that was being parsed: the program itself if none was.
const CLI::App& parsed_command(const CLI::App& app) {
  const auto commands = app.get_subcommands();
  return commands.empty() ? app : *commands.front();
}

std::string full_name(const CLI::App& app, const CLI::App& command) {
  return &command == &app ? app.get_name() : text(app.get_name(), " ", command.get_name());
}

/// What an argument that nobody knows was meant to be.
std::string unknown_argument(const CLI::App& app, const std::string& word) {
  const CLI::App& command = parsed_command(app);
  const bool is_flag = word.starts_with('-');
  std::vector<std::string> names;
  if (is_flag) {
    for (const CLI::Option* option : command.get_options())
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  } else {
    for (const CLI::App* known : command.get_subcommands([](const CLI::App*) { return true; }))
      names.push_back(known->get_name());
  }
  if (names.empty()) return text(full_name(app, command), ": '", word, "' is one argument too many");
  const std::vector<std::string_view> views(names.begin(), names.end());
  const std::string flag = word.substr(0, word.find('='));
  return unknown_name(full_name(app, command), is_flag ? "flag" : "command", flag, views);
}

std::string one_line(std::string message) {
  for (char& letter : message)
    if (letter == '\n') letter = ' ';
  return message;
}

/// Flushes and checks: not every stream throws when a write fails.
void finish(std::ostream& results) {
  if (!results.flush()) throw FileError("retrace: the results cannot be written; send them elsewhere");
}

/// Help is a result; every other end of the parser is an error of usage.
int report(const CLI::App& app, const CLI::ParseError& error, std::ostream& results, std::ostream& messages) {
  if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) {
    results << parsed_command(app).help();
    finish(results);
    return 0;
  }
  const std::vector<std::string> unknown = app.remaining(true);
  if (!unknown.empty()) {
    messages << unknown_argument(app, unknown.front()) << std::endl;
  } else {
    const std::string name = full_name(app, parsed_command(app));
    messages << one_line(text(name, ": ", error.what(), "; see ", name, " --help")) << std::endl;
  }
  return usage_error;
}

int run_command(int argc, const char* const* argv, std::ostream& results, std::ostream& messages, bool terminal) {
  CLI::App app("Trains and checks models on a tape of their own making.", "retrace");
  app.require_subcommand(1);
  app.footer(
      "Ends with 0 when all went well, 1 when something failed (a loss that is not finite, a file that cannot be read "
      "or\nwritten, a gradient that is wrong), 2 for a wrong command line, 130 after Ctrl-C and 143 after SIGTERM.");
  Program program{results, messages, terminal};
  TrainFlags train_flags;
  GradcheckFlags gradcheck_flags;
  DemoFlags demo_flags;
  add_train_command(app, train_flags, program);
  EvalFlags eval_flags;
  add_eval_command(app, eval_flags, program);
  GenerateFlags generate_flags;
  add_generate_command(app, generate_flags, program);
  CompareFlags compare_flags;
  add_compare_command(app, compare_flags, program);
  AblateFlags ablate_flags;
  add_ablate_command(app, ablate_flags, program);
  add_gradcheck_command(app, gradcheck_flags, program);
  InfoFlags info_flags;
  add_info_command(app, info_flags, program);
  add_demo_command(app, demo_flags, program);
  for (CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) refuse_flags_as_values(*command);
  try {
    app.parse(argc, argv);
    finish(results);
    return program.status;
  } catch (const CLI::ParseError& error) {
    return report(app, error, results, messages);
  } catch (const DivergenceError& error) {
    messages << error.what() << std::endl;
    return failure;
  } catch (const ValueError& error) {
    messages << error.what() << std::endl;
    return usage_error;
  } catch (const std::bad_alloc&) {
    throw;  // not even memory for a message
  } catch (const std::exception& error) {
    messages << printable(one_line(error.what())) << std::endl;
    return failure;
  }
}

constexpr const char* no_memory =
    "retrace: the system gives no more memory; use smaller sizes (--hidden, --slots, --length) or batches (--batch), "
    "or "
    "end other programs";

const std::terminate_handler terminate_otherwise = std::get_terminate();

// CLI11 2.6 allocates in functions that may not throw (App::get_option_no_throw): nobody can catch a failure there.
[[noreturn]] void say_why_it_ends() {
  try {
    if (std::current_exception()) std::rethrow_exception(std::current_exception());
  } catch (const std::bad_alloc&) {
    std::cerr << no_memory << std::endl;
    std::_Exit(failure);
  } catch (...) {
  }
  terminate_otherwise();
  std::abort();
}

}  // namespace

int run_cli(int argc, const char* const* argv) {
  std::set_terminate(say_why_it_ends);
  std::cout.flush();  // keeps the caller's own output first
  OutputStream results(STDOUT_FILENO, "standard output", "send it elsewhere");
  return run_cli(argc, argv, results, std::cerr, isatty(STDERR_FILENO) != 0);
}

int run_cli(int argc, const char* const* argv, std::ostream& results, std::ostream& messages, bool terminal) {
  try {
    return run_command(argc, argv, results, messages, terminal);
  } catch (const std::bad_alloc&) {
    messages << no_memory << std::endl;
  } catch (const std::exception& error) {
    messages << error.what() << std::endl;
  }
  return failure;
}

}  // namespace retrace

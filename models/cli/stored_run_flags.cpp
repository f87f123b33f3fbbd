// The flags of the commands that read what `train --out` wrote: eval, predict, export and generate.
#include <retrace/models/cli/command_flags.h>
#include <retrace/models/cli/number_options.h>
#include <retrace/models/cli/options.h>

#include <CLI/CLI.hpp>
#include <memory>

namespace retrace {
namespace {

void add_separator(CLI::App& command, std::string& separator) {
  command.add_option("--separator", separator,
                     "separator of its columns, one character or tab (default: the training's; in a .tsv file, tab)");
}

}  // namespace

void add_eval_command(CLI::App& app, Program& program) {
  const auto flags = std::make_shared<EvalFlags>();
  CLI::App* command = app.add_subcommand(
      "eval", "Evaluates a model that was trained with --out: what it can do, where it fails, how its memory is used");
  ReportOptions& options = flags->options;
  command->add_option("checkpoint", flags->path, "folder of the training, its weights or its checkpoint")->required();
  add_count(*command, "--samples", options.samples, "samples to test on (default: as many as the training's test)");
  add_seed(*command, "--seed", options.seed,
           "seed of the samples (default: the training's, whose test samples it repeats)");
  add_count(*command, "--failures", options.failures, "wrong answers, or worst passages, that are shown", 0);
  add_count(*command, "--examples", options.examples, "samples whose attention is shown, of a model with slots", 0);
  CLI::Option* input = command->add_option(
      "--input", flags->input,
      "for a model of your own data, another file to test on, with samples and their answers (- is standard input)");
  command
      ->add_option("--test-text", flags->input,
                   "for a model of text, a file to test on (default: the text of the training's test)")
      ->excludes(input);
  add_separator(*command, flags->separator);
  add_options(*command, task_option_rows(), flags->sizes, [](const OptionRow<TaskOptions>& row) {
    return row.kind == OptionKind::count && row.group == OptionGroup::task;  // a size that is no description of a file
  });
  command
      ->add_option_function<std::string>(
          "--by-length", [flags](const std::string& range) { flags->lengths = length_range_named(range); },
          "instead, the accuracy at these lengths of the input, which may be longer than in training, and their mean; "
          "41..500/10 is every tenth one, and --samples is then for each (default: 64)")
      ->type_name("FIRST..LAST[/STEP]");
  command->add_flag_callback(
      "--keep-learning", [&options] { options.keep_learning.emplace(); },
      "for a model of text, also the result if it goes on learning as it reads, each segment after it was "
      "scored; the stored weights stay as they are");
  add_number(*command, "--learning-rate", flags->learning_rate,
             text("learning rate of --keep-learning (default: ", KeepLearningOptions().learning_rate, ")"),
             number_above_0);
  add_threads_option(*command, *flags);
  add_common_flags(*command, *flags,
                   {.out = "folder for report.html, attention.html and eval.json, or by_length.json",
                    .json = "print the report as one JSON object"});
  command->callback([flags, &program] { run_eval(*flags, program); });
}

void add_predict_command(CLI::App& app, Program& program) {
  const auto flags = std::make_shared<PredictFlags>();
  CLI::App* command =
      app.add_subcommand("predict", "Answers the samples of a file with a model that was trained with --out");
  command->add_option("checkpoint", flags->path, "folder of the training, its weights or its checkpoint")->required();
  command
      ->add_option(
          "--input", flags->input,
          "a .csv or .tsv file with the columns that the model was trained on, others are not read; or samples "
          "[N, T, I] or [N, T * I] as a .npy file, or as the array x of a .npz file (- is standard input)")
      ->required();
  add_separator(*command, flags->separator);
  command->add_flag("--probabilities", flags->probabilities, "add a column for the probability of each class");
  add_threads_option(*command, *flags);
  add_common_flags(
      *command, *flags,
      {.out = "file for the answers (default: print them)", .json = "print them as one JSON object, not CSV"});
  command->callback([flags, &program] { run_predict(*flags, program); });
}

void add_export_command(CLI::App& app, Program& program) {
  const auto flags = std::make_shared<ExportFlags>();
  CLI::App* command = app.add_subcommand(
      "export", "Writes a model that was trained with --out as an ONNX file, which other programs run");
  command->add_option("checkpoint", flags->path, "folder of the training, its weights or its checkpoint")->required();
  command->add_option("--onnx", flags->onnx, "file to write")->required()->check(not_empty);
  command->add_flag("--f64", flags->f64, "compute in double precision, by operators that have it");
  add_count(*command, "--rows", flags->rows,
            "rows of the longest sequence, of a model whose positions are a table (default: the task's)");
  add_common_flags(*command, *flags, {.json = "print its inputs and outputs as one JSON object"});
  command->callback([flags, &program] { run_export(*flags, program); });
}

void add_generate_command(CLI::App& app, Program& program) {
  const auto flags = std::make_shared<GenerateFlags>();
  CLI::App* command = app.add_subcommand("generate", "Writes text with a model that was trained by train text --out");
  GenerateOptions& options = flags->options;
  command->add_option("folder", flags->folder, "folder of the training")->required();
  add_count(*command, "--length", options.length, "number of characters or words", 0);
  add_number(*command, "--temperature", options.temperature,
             "temperature of the draws; 0: always the most likely token", number_of_0_or_more);
  add_seed(*command, "--seed", options.seed, "seed of the draws");
  command->add_option("--prompt", options.prompt, "text to continue");
  add_common_flags(*command, *flags, {.json = "print it as one JSON object"});
  command->callback([flags, &program] { run_generate(*flags, program); });
}

}  // namespace retrace

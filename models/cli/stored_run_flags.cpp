#include <retrace/models/cli/stored_run_flags.h>

#include <CLI/CLI.hpp>

namespace retrace {

void add_eval_command(CLI::App& app, EvalFlags& flags, Program& program) {
  CLI::App* command =
      app.add_subcommand("eval", "Tells what a model that was trained with --out can do, where it fails, and how");
  ReportOptions& options = flags.options;
  command->add_option("checkpoint", flags.path, "folder of the training, its weights or its checkpoint")->required();
  command->add_option("--samples", options.samples, "to test on (default: as many as the training's test)")
      ->check(CLI::PositiveNumber);
  command->add_option("--seed", options.seed, "of the samples (default: the training's, so those of its test)");
  command->add_option("--failures", options.failures, "wrong answers that are shown")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command->add_option("--examples", options.examples, "samples whose attention is shown, of a model with slots")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command->add_option("--threads", flags.threads, "the results do not depend on it (default: every core)")
      ->check(CLI::PositiveNumber);
  command->add_option("--out", flags.out, "folder for attention.html and eval.json");
  command->add_flag("--json", flags.json, "print the report as one JSON object");
  command->callback([&] { run_eval(flags, program); });
}

void add_generate_command(CLI::App& app, GenerateFlags& flags, Program& program) {
  CLI::App* command = app.add_subcommand("generate", "Writes text with a model that was trained by train text --out");
  GenerateOptions& options = flags.options;
  command->add_option("folder", flags.folder, "of the training")->required();
  command->add_option("--length", options.length, "characters or words")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command->add_option("--temperature", options.temperature, "0: always the most likely token")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command->add_option("--seed", options.seed, "of the draws")->capture_default_str();
  command->add_option("--prompt", options.prompt, "what to continue");
  command->add_flag("--json", flags.json, "print it as one JSON object");
  command->callback([&] { run_generate(flags, program); });
}

}  // namespace retrace

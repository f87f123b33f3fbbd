#include <retrace/core/parallel.h>
#include <retrace/models/cli/commands.h>
#include <retrace/models/cli/earlier_results.h>
#include <retrace/models/cli/run_directory.h>
#include <retrace/models/cli/stop_signals.h>
#include <retrace/models/cli/terminal.h>
#include <retrace/models/formats/digits.h>
#include <retrace/models/formats/nearest_name.h>
#include <retrace/models/reports/plots/curves.h>
#include <retrace/models/training/stored_run.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace retrace {
namespace {

// What a run on a task and one on a text say in their own way: the line at the end, the curve, the weights.

std::string line_of(std::string_view model, std::string_view on, std::string_view metric, const FitResult& result,
                    const Yardsticks& yardsticks) {
  return text(model, " on ", on, ": test ", metric, " ", in_digits(result.test.metric, "%.4g"), " after ",
              in_digits(result.seconds, "%.0f"), " s (chance ", in_digits(yardsticks.chance), ", ",
              yardsticks.trivial_answer, " ", in_digits(yardsticks.trivial));
}

std::string summary(const Run& run) {
  const Yardsticks yardsticks = run.task->yardsticks();
  const std::string line =
      line_of(run.options.model.name, run.options.task, metric_name(run.task->kind()), run.fit, yardsticks);
  return text(line, ", best possible ", in_digits(yardsticks.ceiling),
              yardsticks.original ? text(", original ", *yardsticks.original) : std::string(), ")");
}

std::string summary(const TextRun& run) {
  return line_of(run.options.model.model, run.options.file, metric_name(run.options.tokens), run.fit,
                 yardsticks_of(run.data)) +
         ")";
}

Plot curve_of(std::span<const Metrics> history, const Run& run) { return metric_curve(history, *run.task); }

Plot curve_of(std::span<const Metrics> history, const TextRun& run) {
  const Yardsticks yardsticks = yardsticks_of(run.data);
  return metric_curve(history, metric_name(run.options.tokens),
                      std::filesystem::path(run.options.file).filename().string(),
                      {{"chance", yardsticks.chance}, {std::string(yardsticks.trivial_answer), yardsticks.trivial}});
}

void save_weights(const std::string& path, const Run& run) { save_run(path, run); }
void save_weights(const std::string& path, const TextRun& run) { save_text_model(path, run.model); }

std::string description_of(const Run& run) { return describe_run(run); }
std::string description_of(const TextRun&) { return {}; }

/// Writes the files of a training into its folder. If a signal stopped it, there is no result.json, and the weights are
/// the best so far.
void leave_behind(RunDirectory& directory, const auto& run) {
  save_weights(directory.weights().string(), run);
  std::vector<Metrics> history = directory.earlier();
  history.insert(history.end(), run.fit.history.begin(), run.fit.history.end());
  directory.write("curves.svg", to_svg({loss_curves(history), curve_of(history, run)}));
  if (run.fit.stopped_by != StopReason::signal) directory.write("result.json", to_json(run) + "\n");
}

/// Refuses a folder with an earlier training, unless it is continued (--resume) or may be replaced (--force).
void keep_earlier_training(const TrainFlags& flags, bool resume) {
  constexpr std::array checkpoint{"checkpoint.safetensors"};
  constexpr std::array finished{"weights.safetensors", "result.json"};
  constexpr std::array any{"weights.safetensors", "checkpoint.safetensors", "metrics.jsonl", "curves.svg",
                           "result.json"};
  if (flags.force)
    remove_earlier_results(flags.out, any);
  else if (!resume)
    refuse_earlier_results(flags.out, any, "give --resume to go on with it, --force to start over");
  else if (earlier_results(flags.out, checkpoint).empty())
    refuse_earlier_results(flags.out, finished, "it has no checkpoint to resume from; give --force to start over");
}

std::string interruption(const TrainFlags& flags, const FitResult& result, const FitOptions& options) {
  const std::string head =
      text("stopped by a signal after step ", result.steps, of_steps(options.steps), ", without a test; ");
  if (flags.out.empty()) return head + "with --out DIR it could be resumed";
  return head + "the same command with --resume (and without --force) goes on from there";
}

void train_and_tell(const auto& options, const TrainFlags& flags, Program& program) {
  const StopSignals signals;
  auto run = prepare(options);  // a wrong name is found before a folder is made
  FitOptions& fit = run.options.fit;
  fit.stop = &signals.flag();
  std::optional<RunDirectory> directory;
  if (!flags.out.empty()) {
    check_options(fit);
    keep_earlier_training(flags, fit.resume);
    directory.emplace(flags.out, fit.resume);
    fit.metrics = &directory->metrics();
    fit.checkpoint = directory->checkpoint().string();
    fit.model = description_of(run);
  }
  train(run);
  if (directory) leave_behind(*directory, run);
  if (run.fit.stopped_by == StopReason::signal) {
    program.messages << interruption(flags, run.fit, fit) << std::endl;
    program.status = signals.exit_status();
    return;
  }
  if (!flags.quiet && !run.fit.history.empty()) program.messages << to_text(curve_of(run.fit.history, run));
  program.results << (flags.json ? to_json(run) : summary(run)) << std::endl;
}

/// A text is no task that draws samples, but trained on by the same command.
void check_task(const std::string& task) {
  std::vector<std::string_view> names(task_names().begin(), task_names().end());
  if (std::ranges::find(names, task) != names.end()) return;
  names.push_back("text");
  throw ValueError(unknown_name("retrace train", "task", task, names));
}

void refuse_flags_of_a_text(const TrainFlags& flags) {
  const char* given = !flags.text.empty() ? "--text" : !flags.tokens.empty() ? "--tokens" : nullptr;
  if (given != nullptr)
    throw ValueError(text("retrace train: ", given, " is for retrace train text; leave it out for ", flags.run.task));
}

TextRunOptions text_options(const TrainFlags& flags) {
  if (flags.text.empty()) throw ValueError("retrace train text: no text to train on; give --text FILE");
  if (flags.run.task_options != TaskOptions{.length = flags.run.task_options.length})
    throw ValueError("retrace train text: of the tasks' own options a text has --length alone; leave the others out");
  if (flags.run.model.sizes != SizeOptions{.hidden = flags.run.model.sizes.hidden} ||
      flags.run.model.parts != MemoryParts{})
    throw ValueError("retrace train text: the memory of an rmc is not chosen here; leave its flags out");
  TextRunOptions options{.file = flags.text,
                         .tokens = flags.tokens == "words" ? TokenKind::words : TokenKind::characters,
                         .model = {.model = flags.run.model.name},
                         .dtype = flags.run.dtype,
                         .fit = flags.run.fit};
  const auto choose = [](auto& value, auto flag, auto otherwise) { value = flag == 0 ? otherwise : flag; };
  const TextRunOptions defaults;
  options.model.hidden = flags.run.model.sizes.hidden.value_or(defaults.model.hidden);
  choose(options.model.length, flags.run.task_options.length, defaults.model.length);
  choose(options.fit.steps, flags.run.fit.steps, flags.run.fit.minutes > 0 ? no_limit : defaults.fit.steps);
  choose(options.fit.batch, flags.run.fit.batch, defaults.fit.batch);
  choose(options.fit.learning_rate, flags.run.fit.learning_rate, defaults.fit.learning_rate);
  if (options.fit.schedule.empty()) options.fit.schedule = defaults.fit.schedule;
  return options;
}

}  // namespace

void run_train(const TrainFlags& given, Program& program) {
  TrainFlags flags = given;
  if (flags.threads > 0) set_threads(flags.threads);
  flags.run.dtype = flags.dtype == "f64" ? f64 : f32;
  if (!flags.quiet) flags.run.fit.progress = progress_on(program, text(flags.run.model.name, " on ", flags.run.task));
  if (flags.run.task == "text") {
    train_and_tell(text_options(flags), flags, program);
    return;
  }
  check_task(flags.run.task);
  refuse_flags_of_a_text(flags);
  train_and_tell(flags.run, flags, program);
}

}  // namespace retrace

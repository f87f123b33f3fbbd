#include <retrace/core/base/parallel.h>
#include <retrace/core/trace/timeline.h>
#include <retrace/models/cli/commands.h>
#include <retrace/models/cli/earlier_results.h>
#include <retrace/models/cli/learning_rates.h>
#include <retrace/models/cli/stored_training.h>
#include <retrace/models/cli/terminal.h>
#include <retrace/models/formats/digits.h>
#include <retrace/models/reports/plots/curves.h>
#include <retrace/models/training/learning_rate_finder.h>
#include <retrace/models/training/run.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace retrace {
namespace {

std::string summary(const Run& run) {
  const Baselines baselines = run.task->baselines();
  std::string line =
      text(run.options.model.name, " on ", run.subject(), ": test ", name_of(run.task->metric()), " ",
           in_digits(run.fit.test.metric, "%.4g"), " after ", in_digits(run.fit.seconds, "%.0f"), " s (chance ",
           in_digits(baselines.chance), ", ", baselines.trivial_answer, " ", in_digits(baselines.trivial));
  if (baselines.ceiling) line += text(", best possible ", in_digits(*baselines.ceiling));
  if (baselines.original) line += text(", original ", *baselines.original);
  return line + ")";
}

/// Whether a checkpoint is lost: the first validation writes one.
bool has_several_validations(const std::filesystem::path& metrics) {
  if (!std::filesystem::is_regular_file(metrics)) return false;  // a pipe would be waited for
  std::ifstream lines(metrics);
  return std::count(std::istreambuf_iterator<char>(lines), {}, '\n') > 1;
}

/// Refuses to start from a run in the folder to which the training writes: its files would be lost before there are
/// others.
void keep_source(const TrainFlags& flags) {
  const std::filesystem::path source = flags.run.from;
  std::error_code error;
  const bool is_file = std::filesystem::is_regular_file(source, error);
  const std::filesystem::path folder = is_file ? std::filesystem::absolute(source).parent_path() : source;
  if (std::filesystem::equivalent(folder, flags.out, error))
    throw ValueError(text("retrace train: --from ", flags.run.from,
                          " is in the folder of --out, whose files the "
                          "training replaces; choose another folder for --out"));
}

/// Refuses a folder with an earlier training, unless it is continued (--resume) or may be replaced (--force).
void keep_earlier_training(const TrainFlags& flags, bool resume) {
  constexpr std::array checkpoint{"checkpoint.safetensors"};
  constexpr std::array metrics{"metrics.jsonl"};
  constexpr std::array finished{"weights.safetensors", "result.json"};
  constexpr std::array any{
      "weights.safetensors", "checkpoint.safetensors", "metrics.jsonl", "metrics.csv", "curves.svg", "result.json"};
  if (holds_runs(flags.out))
    throw ValueError(text("retrace: ", flags.out, " holds runs of another command; choose another folder"));
  if (flags.force)
    remove_earlier_results(flags.out, any);
  else if (!resume)
    refuse_earlier_results(flags.out, any, "give --resume to go on with it, --force to start over");
  else if (earlier_results(flags.out, checkpoint).empty()) {
    constexpr const char* remedy = "it has no checkpoint to resume from; give --force to start over";
    refuse_earlier_results(flags.out, finished, remedy);
    if (has_several_validations(std::filesystem::path(flags.out) / metrics.front()))
      refuse_earlier_results(flags.out, metrics, remedy);
  }
}

std::string interruption(const TrainFlags& flags, const FitResult& result, const FitOptions& options) {
  const std::string head =
      text("stopped by a signal after step ", result.steps, of_steps(*options.steps), ", without a test; ");
  if (flags.out.empty()) return head + "with --out DIR it could be resumed";
  return head + "the same command with --resume (and without --force) goes on from there";
}

std::string divergence(const Run& run) {
  const Metrics& last = run.fit.history.back();
  return text("retrace train: the training diverged: after step ", last.step, " the loss is ",
              in_digits(std::min(last.loss, last.validation.loss)), ", and without any training it is ",
              in_digits(run.fit.reference_loss), "; lower the learning rate (--learning-rate, now ",
              in_digits(*run.options.fit.learning_rate), ") or the clip (--clip, now ", in_digits(run.options.fit.clip),
              ")");
}

void train(Run& run, std::optional<RunDirectory>& directory, Program& program) {
  if (directory)
    train_into(*directory, run, program.messages);
  else
    run.train();
}

void train_with_timeline(const std::string& file, Run& run, std::optional<RunDirectory>& directory, Program& program) {
  constexpr std::int64_t steps = 5;
  const Timeline timeline({.names = run.model->names(), .spans = steps});
  save(timeline, file);  // a path that cannot be written to is found before the training
  train(run, directory, program);
  save(timeline, file);
}

}  // namespace

void run_train(const TrainFlags& flags, Program& program) {
  if (flags.threads) set_threads(*flags.threads);
  const StopSignals signals(program.ranks != nullptr);
  RunOptions options = flags.run;
  const bool goes_on = flags.resume && !flags.find_learning_rate;
  options.draws = of_first(program.ranks, !goes_on || !std::filesystem::exists(RunDirectory::checkpoint_in(flags.out)));
  Run run = prepare(options);  // a wrong name is found before a folder is made
  for (const std::string& remark : run.task->remarks()) program.messages << remark << std::endl;
  FitOptions& fit = run.options.fit;
  fit.resume = flags.resume;
  fit.stop = &signals.flag();
  fit.ranks = program.ranks;
  if (!flags.quiet) fit.progress = progress_on(program, text(run.options.model.name, " on ", run.options.task));
  if (flags.find_learning_rate) {
    print_learning_rates(find_learning_rate(*run.model, *run.task, fit), flags.json, program);
    if (signals.flag().load()) program.status = signals.exit_status();
    return;
  }
  if (!is_first(program.ranks)) return flags.out.empty() ? run.train() : train_beside(flags.out, run);
  std::optional<RunDirectory> directory;
  if (!flags.out.empty()) {
    check_options(fit);
    keep_source(flags);
    ResultFolder folder(flags.out);  // before what is in it is looked at or removed: nobody else changes it now
    keep_earlier_training(flags, fit.resume);
    directory.emplace(std::move(folder), fit.resume);
  }
  if (flags.timeline.empty())
    train(run, directory, program);
  else
    train_with_timeline(flags.timeline, run, directory, program);
  if (run.fit.stopped_by == StopReason::signal) {
    program.messages << interruption(flags, run.fit, fit) << std::endl;
    program.status = signals.exit_status();
    return;
  }
  if (run.fit.diverged()) {
    program.messages << divergence(run) << std::endl;
    program.status = 1;
  }
  if (!flags.quiet && !run.fit.history.empty()) program.messages << to_text(metric_curve(run.fit.history, run));
  program.results << (flags.json ? run.json() : summary(run)) << std::endl;
}

}  // namespace retrace

#include <retrace/models/cli/earlier_results.h>
#include <retrace/models/cli/stored_training.h>
#include <retrace/models/reports/plots/curves.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <fstream>
#include <ostream>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace retrace {
namespace {

/// The validations of the training, those before a resume included.
std::vector<Metrics> history_of(const RunDirectory& directory, const Run& run) {
  std::vector<Metrics> history = directory.earlier();
  history.insert(history.end(), run.fit.history.begin(), run.fit.history.end());
  return history;
}

}  // namespace

void train_into(RunDirectory& directory, Run& run, std::ostream& messages) {
  if (!directory.lost_metrics().empty()) messages << directory.lost_metrics() << std::endl;
  if (!run.options.draws && !std::filesystem::exists(directory.checkpoint()))
    throw FileError(
        text("retrace: ", directory.checkpoint().string(), " was removed meanwhile; begin without --resume"));
  FitOptions& fit = run.options.fit;
  fit.metrics = &directory.metrics();
  fit.on_validation = [&directory](const Metrics& metrics) {
    directory.add_to_table(metrics);
    return FitAction::go_on;
  };
  fit.checkpoint = directory.checkpoint().string();
  fit.before_checkpoint = [&directory] { directory.keep_metrics(); };
  fit.model = run.description();
  run.train();
  const bool has_result = run.fit.stopped_by != StopReason::signal;
  if (!has_result) directory.remove_earlier_end();
  run.save_weights(directory.weights().string());
  run.fit.history = history_of(directory, run);
  directory.write("curves.svg", to_svg(training_plots(run.fit.history, run)));
  if (has_result) directory.write("result.json", run.json() + "\n");
}

void train_beside(const std::string& folder, Run& run) {
  run.options.fit.checkpoint = RunDirectory::checkpoint_in(folder).string();
  run.options.fit.model = run.description();
  run.train();
}

namespace {

/// Refuses a folder with results that are to be kept: those of another command even with --resume.
void keep_results(const CommonFlags& flags, std::string_view page) {
  constexpr const char* remedy = "give --resume to go on with it, --force to start over";
  if (flags.force) return;
  constexpr const char* another = "choose another folder, or give --force to start over";
  for (const char* other : {"compare.html", "ablate.html", "tuning.txt"})
    if (other != page) refuse_earlier_results(flags.out, std::array{other}, another);
  const bool has_runs = holds_runs(flags.out);
  if (!has_runs)
    refuse_earlier_results(flags.out, std::array{"weights.safetensors", "checkpoint.safetensors", "metrics.jsonl"},
                           another);
  if (flags.resume) return;
  refuse_earlier_results(flags.out, std::array{page.data(), "result.json"}, remedy);
  if (has_runs) throw ValueError(text("retrace: ", flags.out, " holds runs of an earlier command; ", remedy));
}

}  // namespace

StoredRuns::StoredRuns(const CommonFlags& flags, const char* page, Program& program)
    : path_(flags.out),
      runs_(path_ / "runs"),
      resume_(flags.resume),
      replace_(flags.force),
      page_(page),
      messages_(program.messages),
      ranks_(program.ranks),
      signals_(ranks_ != nullptr) {
  if (is_first(ranks_)) {
    folder_.emplace(path_);
    keep_results(flags, page);
  }
  if (ranks_ != nullptr && ranks_->size() > 1) check_shared();
}

/// Refuses a folder that is another one on the machine of another rank.
void StoredRuns::check_shared() const {
  constexpr const char* name = "seen-by-all-ranks";
  const std::uint32_t mark = of_first(ranks_, static_cast<std::uint32_t>(std::random_device()()));
  if (is_first(ranks_)) folder_->write(name, std::to_string(mark));
  of_first(ranks_, mark);  // it is written
  std::uint32_t seen = 0;
  const bool sees = std::ifstream(path_ / name) >> seen && seen == mark;
  const std::vector<std::string> of_ranks = texts_of_ranks(*ranks_, sees ? "sees it" : "does not");
  std::error_code error;
  if (is_first(ranks_)) std::filesystem::remove(path_ / name, error);
  if (const auto other = std::ranges::find(of_ranks, "does not"); other != of_ranks.end())
    throw FileError(text("retrace: rank ", other - of_ranks.begin(), " does not see what rank 0 writes to ",
                         path_.string(), "; give --out a folder that all machines share"));
}

/// Before the first run, if its options are right.
void StoredRuns::remove_earlier_runs(const std::vector<NamedRun>& runs) {
  if (!std::exchange(replace_, false) || runs.empty()) return;
  check_options(prepare(runs.front().options).options.fit);
  std::error_code error;
  if (is_first(ranks_)) std::filesystem::remove_all(runs_, error);
  if (error)
    throw FileError(
        text("retrace: ", runs_.string(), " cannot be removed: ", error.message(), "; choose another --out"));
  of_first(ranks_, true);  // they are removed
}

std::vector<RunResult> StoredRuns::train(const std::vector<NamedRun>& runs) {
  remove_earlier_runs(runs);
  try {
    return spread_over(
        ranks_, [this](const RunOptions& options, const std::string& name) { return train_one(options, name); })(runs);
  } catch (const Stopped&) {
    throw Interrupted(signals_.exit_status());
  }
}

FitResult StoredRuns::train_one(const RunOptions& options, const std::string& name) {
  RunOptions asked = options;
  asked.draws = !resume_ || !std::filesystem::exists(RunDirectory::checkpoint_in(runs_ / name));
  Run run = prepare(asked);
  run.options.fit.resume = resume_;
  run.options.fit.stop = &signals_.flag();
  check_options(run.options.fit);
  RunDirectory directory(runs_ / name, resume_);
  train_into(directory, run, messages_);
  if (run.fit.stopped_by == StopReason::signal) throw Stopped();
  return std::move(run.fit);
}

void StoredRuns::write(const std::string& page, const std::string& json) const {
  if (!folder_) return;
  folder_->write(page_, page);
  folder_->write("result.json", json + "\n");
}

std::unique_ptr<StoredRuns> stored_runs(const CommonFlags& flags, const char* page, Program& program,
                                        TrainRuns& train) {
  train = spread_over(program.ranks);
  if (flags.out.empty()) return nullptr;
  auto runs = std::make_unique<StoredRuns>(flags, page, program);
  train = [&stored = *runs](const std::vector<NamedRun>& each) { return stored.train(each); };
  return runs;
}

}  // namespace retrace

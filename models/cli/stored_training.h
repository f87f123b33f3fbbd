// Trainings whose files are kept, from which a later command can go on.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <retrace/core/base/error.h>
#include <retrace/models/cli/commands.h>
#include <retrace/models/cli/run_directory.h>
#include <retrace/models/cli/stop_signals.h>
#include <retrace/models/training/several_runs.h>

namespace retrace {

/// Trains a run that was prepared, goes on from the directory's checkpoint if the run's options say so, and writes its
/// files: metrics and checkpoints meanwhile, weights, curves and result at the end. If a signal stopped it, there is no
/// result, and the weights are the best so far. Says what is lost of the metrics. Throws
/// FileError if the run has no weights without a checkpoint (RunOptions::draws) and there is none.
void train_into(RunDirectory& directory, Run& run, std::ostream& messages);

/// The part of the other ranks in that: they train, and read and write nothing.
void train_beside(const std::string& folder, Run& run);

/// Thrown by StoredRuns when a signal stopped a run.
class Interrupted : public Error {
 public:
  explicit Interrupted(int status)
      : Error("retrace: stopped by a signal; the same command with --resume (and without --force) goes on from there"),
        exit_status(status) {}
  int exit_status;  // of the program
};

/// The files of a command that trains several models: a page, result.json, and for each run a folder runs/NAME as
/// `retrace train --out` leaves it. During its lifetime, signals stop runs. Of several ranks, rank 0 has the folder,
/// and each writes the folders of the runs that it trains.
class StoredRuns {
 public:
  /// Makes the folder of --out. Throws ValueError if it has results of an earlier command, unless --resume goes on with
  /// them or --force replaces them; FileError if it cannot be written, another command has it, or a rank does not see
  /// the files that rank 0 writes to it.
  StoredRuns(const CommonFlags& flags, const char* page, Program& program);

  /// Trains runs on all ranks, or goes on with what an earlier command has trained of them; one that is finished is
  /// tested again. Throws Interrupted, what prepare() and fit() throw, and so ValueError if a folder has another
  /// training.
  std::vector<RunResult> train(const std::vector<NamedRun>& runs);
  /// Writes the page and result.json; only rank 0 does.
  void write(const std::string& page, const std::string& json) const;

 private:
  void check_shared() const;
  void remove_earlier_runs(const std::vector<NamedRun>& runs);
  FitResult train_one(const RunOptions& options, const std::string& name);

  std::filesystem::path path_, runs_;
  bool resume_;
  bool replace_;  // before the first run, when its options have been found right
  const char* page_;
  std::ostream& messages_;
  Communicator* ranks_;
  std::optional<ResultFolder> folder_;
  StopSignals signals_;
};

/// StoredRuns if the flags have --out, and `train` then trains by them; in any case on all ranks.
std::unique_ptr<StoredRuns> stored_runs(const CommonFlags& flags, const char* page, Program& program, TrainRuns& train);

}  // namespace retrace

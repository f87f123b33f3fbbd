// Trainings whose files are kept, from which a later command can go on.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include <retrace/core/base/error.h>
#include <retrace/models/cli/commands.h>
#include <retrace/models/cli/run_directory.h>
#include <retrace/models/cli/stop_signals.h>
#include <retrace/models/training/run.h>

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
/// `retrace train --out` leaves it. During its lifetime, signals stop runs.
class StoredRuns {
 public:
  /// Makes the folder of --out. Throws ValueError if it has results of an earlier command, unless --resume goes on with
  /// them or --force replaces them; FileError if it cannot be written or another command has it.
  StoredRuns(const CommonFlags& flags, const char* page, std::ostream& messages);

  /// Trains a run, or goes on with what an earlier command has trained of it; one that is finished is tested again.
  /// Throws Interrupted, what prepare() and fit() throw, and so ValueError if the folder has another training.
  FitResult train(const RunOptions& options, const std::string& name);
  /// Writes the page and result.json.
  void write(const std::string& page, const std::string& json) const;

 private:
  void remove_earlier_runs();

  std::filesystem::path runs_;
  bool resume_;
  bool replace_;  // before the first run, when its options have been found right
  const char* page_;
  std::ostream& messages_;
  ResultFolder folder_;
  StopSignals signals_;
};

/// StoredRuns if the flags have --out, and TrainRun then trains by them.
std::unique_ptr<StoredRuns> stored_runs(const CommonFlags& flags, const char* page, Program& program, TrainRun& train);

}  // namespace retrace

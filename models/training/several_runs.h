// Trainings that are independent of each other, in one process or handed out to ranks.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <retrace/models/training/run.h>

namespace retrace {

/// Trains one of several runs, which its name tells apart from the others. One that stores runs in files may return
/// what an earlier program trained. Throws Stopped if a signal stopped it.
using TrainRun = std::function<FitResult(const RunOptions& options, const std::string& name)>;
/// Trains it anew, without files.
FitResult train_anew(const RunOptions& options, const std::string& name);

/// One of several runs, by the name of its folder or row.
struct NamedRun {
  std::string name;
  RunOptions options;
  bool may_diverge = true;  // false: its DivergenceError goes to the caller
};
/// The outcome of a run.
struct RunResult {
  FitResult fit = {};
  std::string divergence = {};  // the message of its DivergenceError; empty: there was none
};

/// Trains all runs and returns their results in the same order.
using TrainRuns = std::function<std::vector<RunResult>(const std::vector<NamedRun>& runs)>;
/// Trains each run on one rank by `train`, the next one where a rank is free, and gives every rank the results; without
/// ranks, one run after the other. Every rank calls it with the same runs; it throws ValueError on all if their names,
/// data, first weights or instruction sets differ. When one is stopped, no other is begun, and every rank throws
/// Stopped. What `train` throws otherwise, and the DivergenceError of a run that may not diverge, goes to the caller on
/// its rank alone.
TrainRuns spread_over(Communicator* ranks, TrainRun train = train_anew);

}  // namespace retrace

// Trainings of all kinds by the names of their tasks.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <retrace/models/training/run.h>

namespace retrace {

/// The names of the tasks of all kinds.
std::vector<std::string_view> run_names();
/// The recipe of any of them, for any model. Throws ValueError, with the nearest right name, for one that is not known.
Recipe recipe_of_run(std::string_view task);
/// Prepares a training on any of them. Throws ValueError, with the nearest right name, for a task that is not known,
/// for an option that its kind refuses, and for another kind's own; and what the kind's prepare() throws.
std::unique_ptr<Run> make_run(const RunOptions& options);

/// Trains one of several runs, which its name tells apart from the others. One that stores runs in files may return
/// what an earlier program trained.
using TrainRun = std::function<FitResult(const RunOptions& options, const std::string& name)>;
/// Trains it anew, without files.
FitResult train_anew(const RunOptions& options, const std::string& name);

}  // namespace retrace

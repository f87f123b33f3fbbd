// Kinds of training, each with its tasks and the options that it takes: on the samples of a task, and on a text.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include <retrace/models/training/run.h>

namespace retrace {

/// A flag of `retrace train` that only one kind of training takes.
struct OwnFlag {
  std::string_view name;  // "--text"
  bool (*is_given)(const RunOptions&);
};

/// Options that a kind of training refuses.
struct Refusal {
  bool (*applies)(const RunOptions&);
  std::string_view message;  // the reason, and the remedy
};

/// How the trainings on some tasks are made, and which options they take.
struct RunKind {
  std::span<const std::string_view> (*tasks)();  // their names
  std::unique_ptr<Run> (*prepare)(const RunOptions&);
  Recipe (*recipe)(std::string_view task);  // for any model
  std::span<const OwnFlag> own_flags = {};
  std::span<const Refusal> refusals = {};
};

/// The names of the tasks of all kinds.
std::vector<std::string_view> run_names();
/// The recipe of any of them, for any model. Throws ValueError, with the nearest right name, for one that is not known.
Recipe recipe_of_run(std::string_view task);
/// Prepares a training on any of them. Throws ValueError, with the nearest right name, for a task that is not known,
/// for an option that its kind refuses, and for another kind's own; and what the kind's prepare() throws.
std::unique_ptr<Run> make_run(const RunOptions& options);

}  // namespace retrace

// Flags that several commands have.
#pragma once

#include <string>

#include <retrace/models/cli/commands.h>
#include <retrace/models/formats/nearest_name.h>
#include <CLI/App.hpp>
#include <CLI/Validators.hpp>

namespace retrace {

/// Refuses an empty word, as a shell makes one of a variable that is not set.
extern const CLI::Validator not_empty;

/// Budget, batches, optimiser and lessons.
void add_training_options(CLI::App& command, FitOptions& fit);
/// The options of single tasks.
void add_task_options(CLI::App& command, TaskOptions& options);
/// Those of them that are numbers and no description of a file.
void add_task_sizes(CLI::App& command, TaskOptions& options);
/// The number of threads.
void add_threads_option(CLI::App& command, CommonFlags& flags);
/// The relational memory of a model, and its parts.
void add_memory_options(CLI::App& command, ModelSpec& model);

/// The layers of a model: --layers, --dropout, --bidirectional, --positions, --causal, --no-causal and --feed-forward.
void add_form_options(CLI::App& command, ModelForm& form);

/// An expression and its inputs: --expr and --input. Returns --expr.
CLI::Option* add_expression_options(CLI::App& command, ExpressionFlags& flags, const char* description);

/// The descriptions of those of the common flags that a command has.
struct CommonDescriptions {
  const char* out = nullptr;
  const char* resume = nullptr;  // needs --out
  const char* force = nullptr;   // likewise
  const char* json = nullptr;
  bool quiet = false;
};
/// The flags that others may need or exclude; null if they were not added.
struct CommonOptions {
  CLI::Option* out = nullptr;
  CLI::Option* force = nullptr;
  CLI::Option* json = nullptr;
};
/// Adds the flags with a description, in this order. `out` is --out if an earlier call added it.
CommonOptions add_common_flags(CLI::App& command, CommonFlags& flags, const CommonDescriptions& descriptions,
                               CLI::Option* out = nullptr);

}  // namespace retrace

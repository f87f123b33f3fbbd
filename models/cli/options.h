// Flags that several commands have.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include <retrace/models/training/run.h>
#include <CLI/App.hpp>

namespace retrace {

/// "lstm, gru, rnn"
std::string joined(std::span<const std::string_view> names);

/// Budget, batches, optimiser and lessons.
void add_training_options(CLI::App& command, FitOptions& fit);
/// What the tasks have of their own.
void add_task_options(CLI::App& command, TaskOptions& options);
/// The number of threads that compute.
void add_threads_option(CLI::App& command, int& threads);
/// Which relational memory a model has, and of what parts.
void add_memory_options(CLI::App& command, ModelSpec& model);

}  // namespace retrace

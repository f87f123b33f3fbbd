// The command line of a training.
#pragma once

#include <string>

#include <retrace/models/training/run.h>

namespace retrace {

/// `retrace train TASK ...` with the options that are given or differ from the defaults: those of task and text, the
/// model with its sizes, memory and layers, the batches, the optimiser and its schedule, the dtype. Arguments that a
/// shell would take apart are quoted. What belongs to one training alone (seed, files, callbacks) is left out.
std::string train_command(const RunOptions& options);

}  // namespace retrace

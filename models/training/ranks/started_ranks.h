// The ranks with which the program was started.
#pragma once

#include <memory>

#include <retrace/models/training/ranks/communicator.h>

namespace retrace {

/// Makes the communicator of all ranks, or nothing where the program was started as one process.
using StartRanks = std::unique_ptr<Communicator> (*)();
/// Called by a library that knows how to start ranks (models/mpi), before main.
void register_ranks(StartRanks start);
/// The ranks of this program; null if it is one process, or no such library is linked.
std::unique_ptr<Communicator> started_ranks();

}  // namespace retrace

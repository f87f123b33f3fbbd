// A command that several ranks run together.
#pragma once

#include <iosfwd>

#include <retrace/models/training/ranks/communicator.h>

namespace retrace {

/// Throws ValueError on every rank unless all run one build of the program with one command line (but for --threads),
/// and the command is one of those that several ranks share; the others are for one process.
void check_command(Communicator& ranks, int argc, const char* const* argv);
/// Runs the command on this rank. Rank 0 prints results and messages. When a rank fails and the others do not within
/// two seconds, it says why and ends them, too, since they would wait for it; its exit status is that of them all.
int run_on_ranks(Communicator& ranks, int argc, const char* const* argv, std::ostream& results);

}  // namespace retrace

// The program `retrace`: commands, flags, errors. Results go to one stream, everything else to another.
#pragma once

#include <iosfwd>

namespace retrace {

class Communicator;

/// Runs one command. Returns 0 on success, 1 if the work failed or its results could not be written, and 2 for a wrong
/// command line. An error is one line on `messages`. `terminal` says whether messages may redraw their line; `keyboard`
/// gives the commands of a reader who sees the results on a terminal, and is null for a pipe. Each of several ranks
/// calls it, and rank 0 alone writes files.
int run_cli(int argc, const char* const* argv, std::ostream& results, std::ostream& messages, bool terminal = false,
            std::istream* keyboard = nullptr, Communicator* ranks = nullptr);
/// Runs one command on std::cout and std::cerr: the body of main in a program that registers its own models or tasks.
/// Started by mpirun, in a build with RETRACE_MPI, it is one rank of several, of which rank 0 prints.
int run_cli(int argc, const char* const* argv);

}  // namespace retrace

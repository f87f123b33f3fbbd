// The program `retrace`: commands, flags, errors. Results go to one stream, everything else to the other.
#pragma once

#include <iosfwd>

namespace retrace {

/// Runs one command. Returns 0 on success, 1 if the work failed or its results could not be written, and 2 for a wrong
/// command line. An error is one line on `messages`. `terminal` says whether messages may redraw their line.
int run_cli(int argc, const char* const* argv, std::ostream& results, std::ostream& messages, bool terminal = false);
/// The same on std::cout and std::cerr: the whole main of a program that has registered models or tasks of its own.
int run_cli(int argc, const char* const* argv);

}  // namespace retrace

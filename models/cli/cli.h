// The program `retrace`: commands, flags, errors. Results go to one stream, everything else to another.
#pragma once

#include <iosfwd>

namespace retrace {

/// Runs one command. Returns 0 on success, 1 if the work failed or its results could not be written, and 2 for a wrong
/// command line. An error is one line on `messages`. `terminal` says whether messages may redraw their line; `keyboard`
/// gives the commands of a reader who sees the results on a terminal, and is null for a pipe.
int run_cli(int argc, const char* const* argv, std::ostream& results, std::ostream& messages, bool terminal = false,
            std::istream* keyboard = nullptr);
/// Runs one command on std::cout and std::cerr: the body of main in a program that registers its own models or tasks.
int run_cli(int argc, const char* const* argv);

}  // namespace retrace

// Files made from the description of the command line: see `retrace --generate`.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace retrace {

/// The man page of a program: its commands with their flags and examples, exit statuses and environment, for man(7).
std::string man_page(const CLI::App& app);

/// The completion of its command line for bash: commands, flags, and the names that flags and arguments take; files
/// where anything else is expected.
std::string bash_completion(const CLI::App& app);

/// Adds --generate, whose answer, one of these files, is thrown as AskedText.
void add_generate_option(CLI::App& app);

}  // namespace retrace

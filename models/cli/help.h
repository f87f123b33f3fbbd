// The help of a command: in groups, as wide as the terminal, and with the options of a task and a model only.
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace CLI {
class App;
class FormatterBase;
}  // namespace CLI

namespace retrace {

/// Prints options in their groups, and descriptions on lines as wide as the terminal.
std::shared_ptr<CLI::FormatterBase> help_formatter();
/// The help of a command, with its examples. Where the command line names a task or a model, the options that it does
/// not have are left out.
std::string help_of(CLI::App& command);
/// The command line with flags for two words: "help train babi" is "train babi --help", and "version" is "--version".
std::vector<const char*> with_flags(const CLI::App& app, int argc, const char* const* argv);

}  // namespace retrace

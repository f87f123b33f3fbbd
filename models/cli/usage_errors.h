// The answers to a command line that cannot be parsed or asks for help.
#pragma once

#include <iosfwd>
#include <string>

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace retrace {

/// Answers an exception of the parser. If it asks for help or another text, prints that on `results` and returns true;
/// otherwise it is an error, one line on `messages`, with the nearest name for a command or a flag that is not known.
bool report(const CLI::App& app, const CLI::ParseError& error, std::ostream& results, std::ostream& messages);

/// The message with blanks for its line ends.
std::string one_line(std::string message);

/// The message of an error with the command in place of the function of the library that it begins with, if users of
/// the program do not know that: "retrace train: hidden is 0; ..." for "make_model: hidden is 0; ...".
std::string told_by_command(const CLI::App& app, const std::string& message);

}  // namespace retrace

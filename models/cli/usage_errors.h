// The answers to a command line that cannot be parsed or asks for help.
#pragma once

#include <exception>
#include <iosfwd>
#include <string>

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace retrace {

/// Answers an exception of the parser. If it asks for help or another text, prints that on `results` and returns true;
/// otherwise it is an error, one line on `messages`, with the nearest name for a command or a flag that is not known.
bool report(CLI::App& app, const CLI::ParseError& error, std::ostream& results, std::ostream& messages);

/// The message with blanks for its line ends.
std::string one_line(std::string message);

/// The message of an error of the library in the name of the command: where it begins with the function that found the
/// error ("make_model: ..."), the command's name stands there instead ("retrace train: ..."). Errors of study and
/// gradcheck stay as they are unless a file is at fault: they name the ops that the user named.
std::string in_the_name_of(const CLI::App& app, const std::exception& error);

}  // namespace retrace

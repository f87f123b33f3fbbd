// Texts of the help and the man page beside the flags.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace retrace {

/// The words on lines of at most `width` characters, unless a word is longer; those after the first are indented.
std::string wrapped(std::string_view words, std::size_t width, std::size_t indent = 0);

/// A command line that runs as it is, after those before it.
struct CommandExample {
  std::string_view command;  // "train"
  std::string_view line;     // "retrace train ..."
  std::string_view meaning;
};
/// Two or three for each command, those of one command next to each other.
std::span<const CommandExample> examples();

/// A word, and what it stands for.
struct Meaning {
  std::string_view word;
  std::string_view meaning;
};
/// The numbers with which the program ends.
std::span<const Meaning> exit_statuses();
/// The environment variables that it reads.
std::span<const Meaning> environment();

/// The end of the help, after the flags: a command's examples, or, for an empty name, the program's exit statuses and
/// environment variables.
std::string end_of_help(std::string_view command);

}  // namespace retrace

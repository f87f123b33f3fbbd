// A text that a flag of the program asks for instead of a command.
#pragma once

#include <CLI/Error.hpp>
#include <string>

namespace retrace {

/// Thrown while a command line is parsed; what() is to be printed.
struct AskedText : CLI::Success {
  explicit AskedText(const std::string& text) : CLI::Success("AskedText", text, CLI::ExitCodes::Success) {}
};

}  // namespace retrace

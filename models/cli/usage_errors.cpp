#include <retrace/core/base/error.h>
#include <retrace/models/cli/asked_text.h>
#include <retrace/models/cli/help.h>
#include <retrace/models/cli/usage_errors.h>
#include <retrace/models/formats/error_words.h>
#include <retrace/models/formats/nearest_name.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <ostream>
#include <vector>

namespace retrace {
namespace {

/// The command that was being parsed: the program itself if none was.
const CLI::App& parsed_command(const CLI::App& app) {
  const auto commands = app.get_subcommands();
  return commands.empty() ? app : *commands.front();
}

std::string full_name(const CLI::App& app, const CLI::App& command) {
  return &command == &app ? app.get_name() : text(app.get_name(), " ", command.get_name());
}

/// The error for an argument that is not known, with the nearest name.
std::string unknown_argument(const CLI::App& app, const std::string& word) {
  const CLI::App& command = parsed_command(app);
  const bool is_flag = word.starts_with('-');
  std::vector<std::string> names;
  if (is_flag) {
    for (const CLI::Option* option : command.get_options())
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  } else {
    for (const CLI::App* known : command.get_subcommands([](const CLI::App*) { return true; }))
      names.push_back(known->get_name());
  }
  if (names.empty()) return text(full_name(app, command), ": '", word, "' is one argument too many");
  const std::string flag = word.substr(0, word.find('='));
  const std::string name = full_name(app, command);
  return unknown_name(name, is_flag ? "flag" : "command", flag, names, name + " --help");
}

}  // namespace

std::string one_line(std::string message) {
  std::ranges::replace(message, '\n', ' ');
  return message;
}

std::string in_the_name_of(const CLI::App& app, const std::exception& error) {
  const std::string message = error.what();
  const CLI::App& command = parsed_command(app);
  const std::string& name = command.get_name();
  const std::string_view rest = without_function(message);
  const bool names_ops = (name == "study" || name == "gradcheck") && dynamic_cast<const FileError*>(&error) == nullptr;
  if (names_ops || message.starts_with(app.get_name() + ":") || rest.size() == message.size()) return message;
  return text(full_name(app, command), ": ", rest);
}

bool report(CLI::App& app, const CLI::ParseError& error, std::ostream& results, std::ostream& messages) {
  if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) {
    const auto commands = app.get_subcommands();
    const bool is_text = dynamic_cast<const AskedText*>(&error) != nullptr;
    results << (is_text ? error.what() : help_of(commands.empty() ? app : *commands.front()));
    return true;
  }
  const std::vector<std::string> unknown = app.remaining(true);
  if (!unknown.empty()) {
    messages << unknown_argument(app, unknown.front()) << std::endl;
  } else {
    const std::string name = full_name(app, parsed_command(app));
    messages << one_line(text(name, ": ", error.what(), "; see ", name, " --help")) << std::endl;
  }
  return false;
}

}  // namespace retrace

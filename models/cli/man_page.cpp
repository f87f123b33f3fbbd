#include <retrace/core/base/error.h>
#include <retrace/models/cli/build_info.h>
#include <retrace/models/cli/generated_files.h>
#include <retrace/models/cli/help_texts.h>

#include <CLI/CLI.hpp>
#include <string_view>

namespace retrace {
namespace {

/// Text as troff reads it: no character of it is a command, and a hyphen can be copied into a shell.
std::string escaped(std::string_view plain) {
  std::string result;
  for (const char c : plain) {
    if (c == '\\')
      result += "\\e";
    else if (c == '-')
      result += "\\-";
    else if (c == '\'')
      result += "\\(aq";
    else if (c == '\n')
      result += ' ';
    else
      result += c;
  }
  return result.starts_with('.') ? "\\&" + result : result;
}

std::string bold(std::string_view plain) { return text("\\fB", escaped(plain), "\\fR"); }

std::string entry(const std::string& term, std::string_view meaning) {
  return text(".TP\n", term, "\n", escaped(meaning), "\n");
}

/// Its arguments, then its flags, with what the help says about them.
std::string flags_of(const CLI::App& app) {
  const CLI::Formatter help;
  std::string result;
  for (const bool positional : {true, false})
    for (const CLI::Option* option : app.get_options())
      if (option->get_positional() == positional && option != app.get_help_ptr())
        result += entry(bold(option->get_name(positional, !positional)) + escaped(help.make_option_opts(option)),
                        help.make_option_desc(option));
  return result;
}

std::string section_of(const CLI::App& command) {
  std::string result = text(".SS ", command.get_name(), "\n", escaped(command.get_description()), ".\n");
  result += flags_of(command);
  for (const CommandExample& example : examples())
    if (example.command == command.get_name())
      result += text(".PP\n", escaped(example.meaning), ":\n.PP\n.nf\n.RS\n", escaped(example.line), "\n.RE\n.fi\n");
  return result;
}

std::string section(const char* title, std::span<const Meaning> meanings) {
  std::string result = text(".SH ", title, "\n");
  for (const Meaning& each : meanings) result += entry(bold(each.word), each.meaning);
  return result;
}

}  // namespace

std::string man_page(const CLI::App& app) {
  const std::string& name = app.get_name();
  std::string result = text(".TH ", name, " 1 \"\" \"", name, " ", build_info.version, "\" \"User Commands\"\n");
  std::string purpose = app.get_description();
  if (purpose.ends_with('.')) purpose.pop_back();
  result += text(".SH NAME\n", name, " \\- ", escaped(purpose), "\n");
  result += text(".SH SYNOPSIS\n", bold(name), " \\fICOMMAND\\fR [\\fIOPTIONS\\fR]\n.br\n", bold(name),
                 " \\fICOMMAND\\fR ", bold("--help"), "\n");
  result += ".SH OPTIONS\n" + flags_of(app) + ".SH COMMANDS\n";
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    result += section_of(*command);
  return result + section("EXIT STATUS", exit_statuses()) + section("ENVIRONMENT", environment());
}

}  // namespace retrace

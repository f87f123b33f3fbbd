#include <retrace/models/cli/help.h>
#include <retrace/models/cli/help_texts.h>
#include <retrace/models/cli/options.h>
#include <retrace/models/cli/terminal.h>
#include <retrace/models/networks/model_options.h>
#include <retrace/models/networks/sequence_model.h>
#include <retrace/models/tasks/recipes.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <utility>

namespace retrace {
namespace {

class HelpFormatter : public CLI::Formatter {
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override {
    return make_description(app) + make_usage(app, std::move(name)) + make_positionals(app) + parts_of(app) +
           make_subcommands(app, mode) + '\n' + make_footer(app);
  }
  std::string parts_of(const CLI::App* app) const {
    std::string result;
    for (const std::string title : {"Task", "Model", "Memory", "Training", "Files", "Options"}) {
      const auto options = app->get_options(
          [&](const CLI::Option* option) { return option->get_group() == title && option->nonpositional(); });
      if (!options.empty()) result += make_group(title, false, options);
    }
    return result;
  }
  std::string make_description(const CLI::App* app) const override {
    return wrapped(app->get_description(), static_cast<std::size_t>(terminal_columns())) + '\n';
  }
  std::string make_option(const CLI::Option* option, bool is_positional) const override {
    return line(make_option_name(option, is_positional) + make_option_opts(option), option->get_description());
  }
  std::string make_subcommand(const CLI::App* command) const override {
    return line(command->get_name(), command->get_description());
  }
  /// The head, with the words in a column to its right.
  std::string line(const std::string& head, const std::string& words) const {
    constexpr std::size_t narrowest = 30;
    const std::size_t indent = get_column_width(), columns = static_cast<std::size_t>(terminal_columns());
    std::string result = "  " + head;
    result += result.size() < indent ? std::string(indent - result.size(), ' ') : "\n" + std::string(indent, ' ');
    return result + wrapped(words, std::max(columns, indent + narrowest) - indent, indent) + '\n';
  }
};

/// The argument or the value of a flag, empty if it is not given.
std::string word_of(const CLI::App& command, const std::string& name) {
  const CLI::Option* option = command.get_option_no_throw(name);
  return option == nullptr || option->count() == 0 ? "" : option->results().front();
}

bool is_one_of(const std::string& word, const auto& names) { return std::ranges::find(names, word) != names.end(); }

void hide(CLI::App& command, std::string_view option) {
  for (const char* dashes : {"--", "--no-"})
    if (CLI::Option* flag = command.get_option_no_throw(text(dashes, option))) flag->group("");
}

void hide_options_of_others(CLI::App& command) {
  const std::string task = word_of(command, "task");
  const std::string model = word_of(command, command.get_option_no_throw("--model") == nullptr ? "model" : "--model");
  if (is_one_of(task, all_task_names()))
    for (const OptionInfo& row : task_option_rows())
      if (!has_option(task, row.name)) hide(command, row.name);
  if (is_one_of(model, model_names()))
    for (const OptionInfo& row : model_option_rows())
      if (!has_option(ModelSpec{.name = model}, row.name)) hide(command, row.name);
}

}  // namespace

std::shared_ptr<CLI::FormatterBase> help_formatter() { return std::make_shared<HelpFormatter>(); }

std::string help_of(CLI::App& command) {
  const bool is_program = command.get_parent() == nullptr;
  if (!is_program) hide_options_of_others(command);
  return command.help() + '\n' + end_of_help(is_program ? "" : command.get_name());
}

std::vector<const char*> with_flags(const CLI::App& app, int argc, const char* const* argv) {
  std::vector<const char*> words(argv, argv + argc);
  const std::string_view first = argc > 1 ? words[1] : "";
  if (first == "version" && argc == 2) words[1] = "--version";
  if (first != "help") return words;
  words.erase(words.begin() + 1);
  const auto is_it = [&](const CLI::App* command) { return command->get_name() == words[1]; };
  if (argc == 2 || !app.get_subcommands(is_it).empty()) words.push_back("--help");
  return words;
}

}  // namespace retrace

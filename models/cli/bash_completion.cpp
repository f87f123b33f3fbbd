#include <retrace/core/base/error.h>
#include <retrace/models/checks/checks.h>
#include <retrace/models/cli/asked_text.h>
#include <retrace/models/cli/generated_files.h>
#include <retrace/models/demos/demos.h>
#include <retrace/models/networks/model_options.h>
#include <retrace/models/study/subjects.h>
#include <retrace/models/training/optimizer_choice.h>
#include <retrace/models/training/presets.h>
#include <retrace/models/training/run.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <vector>

namespace retrace {
namespace {

using Words = std::vector<std::string>;

Words words_of(const auto& names) { return Words(names.begin(), names.end()); }

/// The tasks, and for the commands that train what else they learn.
Words tasks_of(std::string_view command) {
  if (command == "train" || command == "compare" || command == "tune") return words_of(all_task_names());
  Words names = words_of(task_names());
  if (command == "ablate") names.emplace_back("text");
  return names;
}

/// The names that a flag or an argument takes, where the parser does not check them because the command itself has the
/// better error message. (Of several ones separated by commas, the first.)
Words known_names(std::string_view command, std::string_view option) {
  if (option == "task" || option == "--task") return tasks_of(command);
  if (option == "--model" && command == "ablate") return words_of(memory_model_names());
  if (option == "model" || option == "--model" || option == "--models") return words_of(model_names());
  if (option == "--preset") return words_of(preset_names());
  if (option == "subject") return words_of(subject_names());
  if (option == "--optimizer") return words_of(optimizer_names());
  if (option == "--schedule" || option == "--schedules") return words_of(schedule_names());
  if (option == "--factors") return words_of(memory_part_names());
  if (option == "names" && command == "gradcheck") return retrace::checked_names();
  if (option == "name" && command == "demo") {
    Words names = words_of(demo_names());
    names.emplace_back("all");
    return names;
  }
  return {};
}

/// Those that the parser checks, from the type that the help shows: "TEXT:{f32,f64}".
Words checked_names(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const std::size_t open = type.find('{'), close = type.rfind('}');
  if (open == std::string::npos || close == std::string::npos) return {};
  return CLI::detail::split(type.substr(open + 1, close - open - 1), ',');
}

std::string joined_words(const Words& words) {
  std::string result;
  for (const std::string& word : words) result += (result.empty() ? "" : " ") + word;
  return result;
}

/// The lines of one command: what follows its flags, its flags, its arguments.
std::string cases_of(const CLI::App& command) {
  const std::string& name = command.get_name();
  std::string values;
  Words flags, arguments, with_files;
  for (const CLI::Option* option : command.get_options()) {
    const bool positional = option->get_positional();
    Words words = checked_names(*option);
    if (words.empty()) words = known_names(name, positional ? option->get_name(true) : option->get_name());
    if (positional) {
      arguments.insert(arguments.end(), words.begin(), words.end());
      continue;
    }
    for (const std::string& flag : option->get_lnames()) flags.push_back("--" + flag);
    if (option->get_type_size() == 0) continue;
    if (words.empty())
      with_files.push_back(text(name, ":", option->get_name()));
    else
      values += text("    ", name, ":", option->get_name(), ") words='", joined_words(words), "' ;;\n");
  }
  for (std::size_t i = 0; i < with_files.size(); ++i)
    values += (i == 0 ? "    " : "|") + with_files[i] + (i + 1 == with_files.size() ? ") ;;\n" : "");
  return text(values, "    ", name, ":*)\n      if [[ $current == -* ]]; then words='", joined_words(flags),
              "'; else words='", joined_words(arguments), "'; fi ;;\n");
}

}  // namespace

std::string bash_completion(const CLI::App& app) {
  const std::string& name = app.get_name();
  Words first{"help", "version"};
  std::string cases;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    first.push_back(command->get_name());
    cases += cases_of(*command);
  }
  for (const CLI::Option* option : app.get_options())
    for (const std::string& flag : option->get_lnames()) first.push_back("--" + flag);
  return text("# Completion of ", name, " for bash, made by: ", name, " --generate bash-completion\n_", name,
              "() {\n  local current=${COMP_WORDS[COMP_CWORD]} words=''\n"
              "  if ((COMP_CWORD == 1)); then words='",
              joined_words(first), "'; else\n    case ${COMP_WORDS[1]}:${COMP_WORDS[COMP_CWORD - 1]} in\n",
              "    --generate:*) words='man bash-completion' ;;\n", cases,
              "    esac\n  fi\n  COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n}\ncomplete -o default -F _",
              name, " ", name, "\n");
}

void add_generate_option(CLI::App& app) {
  app.add_option_function<std::string>(
         "--generate",
         [&app](const std::string& what) { throw AskedText(what == "man" ? man_page(app) : bash_completion(app)); },
         "print the man page or the completion for bash, which cmake --install installs")
      ->check(CLI::IsMember({"man", "bash-completion"}));
}

}  // namespace retrace

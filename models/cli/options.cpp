#include <retrace/models/cli/number_options.h>
#include <retrace/models/cli/options.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <vector>

namespace retrace {

namespace {

/// The range of a number on a command line, where no number is endless.
NumberRange written_range(const NumberRange& range) {
  const bool from_0 = range.min == 0;
  return {range.min, from_0 ? std::min(range.max, number_of_0_or_more.max) : range.max, range.open};
}

/// Whether the option can be given as that value.
bool can_be(const OptionInfo& option, const OptionValue& value) {
  if (const auto* count = std::get_if<std::int64_t>(&value))
    return option.rules.range.contains(static_cast<double>(*count));
  if (const auto* number = std::get_if<double>(&value)) return option.rules.range.contains(*number);
  const auto* word = std::get_if<std::string>(&value);
  return word != nullptr && !word->empty();
}

void add_truth(CLI::App& command, const OptionInfo& option, const std::function<void(const OptionValue&)>& set) {
  CLI::Option* yes = nullptr;
  if (!option.help.empty())
    yes = command.add_flag_callback(
        text("--", option.name), [set] { set(true); }, std::string(option.help));
  if (yes != nullptr) yes->group(title_of(option.group));
  if (option.rules.no.empty()) return;
  CLI::Option* no = command.add_flag_callback(
      text("--no-", option.name), [set] { set(false); }, std::string(option.rules.no));
  no->group(title_of(option.group));
  if (yes != nullptr) no->excludes(yes);
}

/// The value that a word stands for.
OptionValue value_of(const std::string& flag, const OptionInfo& option, OptionKind kind, const std::string& word) {
  if (kind == OptionKind::word) return word;
  if (kind == OptionKind::number) return read_number(flag.c_str(), word, written_range(option.rules.range));
  const auto [min, max] = whole_numbers(option);
  return read_count(flag.c_str(), word, min, max);
}

}  // namespace

std::string title_of(OptionGroup group) {
  constexpr std::array titles{"Task", "Model", "Memory", "Training", "Files", "Options"};
  return titles[static_cast<std::size_t>(group)];
}

void add_option(CLI::App& command, const OptionInfo& option, OptionKind kind, bool is_enumeration,
                const std::optional<OptionValue>& usual, const std::function<void(const OptionValue&)>& set) {
  if (kind == OptionKind::truth) return add_truth(command, option, set);
  constexpr std::array types{"", "INT", "NUMBER", "TEXT"};
  const std::string flag = text("--", option.name);
  const bool shown = usual && !is_enumeration && can_be(option, *usual);
  CLI::Option* added = add_read(
      command, flag.c_str(), types[static_cast<std::size_t>(kind)], std::string(option.help),
      [=, &option](const std::string& word) { set(value_of(flag, option, kind, word)); },
      shown ? as_words(*usual) : "");
  added->group(title_of(option.group));
  if (is_enumeration)
    added->check(CLI::IsMember(std::vector<std::string>(option.rules.words().begin(), option.rules.words().end())));
}

const CLI::Validator not_empty([](const std::string& word) { return word.empty() ? "it is empty" : ""; }, "");

void add_threads_option(CLI::App& command, CommonFlags& flags) {
  constexpr int max_threads = 1024;
  add_read(command, "--threads", "INT", "number of threads (default: all cores); results do not depend on it",
           [&flags](const std::string& word) {
             flags.threads = static_cast<int>(read_count("--threads", word, 1, max_threads));
           });
}

CommonOptions add_common_flags(CLI::App& command, CommonFlags& flags, const CommonDescriptions& descriptions,
                               CLI::Option* out) {
  const std::string files = title_of(OptionGroup::files);
  CommonOptions options{.out = out};
  if (descriptions.out != nullptr)
    options.out = command.add_option("--out", flags.out, descriptions.out)->check(not_empty)->group(files);
  CLI::Option* resume = nullptr;
  if (descriptions.resume != nullptr)
    resume = command.add_flag("--resume", flags.resume, descriptions.resume)->needs(options.out)->group(files);
  if (descriptions.force != nullptr)
    options.force = command.add_flag("--force", flags.force, descriptions.force)->needs(options.out)->group(files);
  if (resume != nullptr && options.force != nullptr) resume->excludes(options.force);
  if (descriptions.json != nullptr) options.json = command.add_flag("--json", flags.json, descriptions.json);
  if (descriptions.quiet) command.add_flag("--quiet", flags.quiet, "show no progress");
  return options;
}

ExpressionOptions add_expression_options(CLI::App& command, ExpressionFlags& flags, const char* description) {
  CLI::Option* expression = command.add_option("--expr", flags.text, description)->check(not_empty);
  CLI::Option* input =
      command
          .add_option("--input", flags.inputs,
                      "an input of the function, once for each: q=4x8 (random numbers), x=[[1,2],[3,4]], ids=[0,2]i64 "
                      "(integers, which stay constant), q=FILE.npy")
          ->type_name("NAME=VALUE")
          ->allow_extra_args(false);
  return {expression, input};
}

}  // namespace retrace

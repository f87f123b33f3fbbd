#include <retrace/core/base/error.h>
#include <retrace/models/cli/number_options.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

namespace retrace {
namespace {

/// The word as given, cut to 40 characters and with unprintable ones replaced.
std::string quoted(std::string_view word) {
  constexpr std::size_t longest = 40;
  std::string shown(word.substr(0, longest));
  std::ranges::replace_if(
      shown, [](unsigned char letter) { return letter < ' ' || letter > '~'; }, '?');
  return text("'", shown, word.size() > longest ? "...'" : "'");
}

CLI::ValidationError refusal(const char* name, std::string_view word, const std::string& rule) {
  return CLI::ValidationError(name, text(quoted(word), " is not ", rule));
}

/// The number, or nothing if the word is not a number as a whole or does not fit into T.
template <class T> std::optional<T> read(std::string_view word) {
  T value{};
  const char* end = word.data() + word.size();
  const auto [rest, error] = std::from_chars(word.data(), end, value);
  if (error != std::errc() || rest != end) return std::nullopt;
  return value;
}

template <class T> T read_whole(const char* name, std::string_view word, T min, T max) {
  const std::optional<T> value = read<T>(word);
  if (!value || *value < min || *value > max) throw refusal(name, word, text("a whole number from ", min, " to ", max));
  return *value;
}

std::string rule_of(const NumberRange& range) {
  const std::string rule = range.rule();
  return rule.starts_with("a ") ? rule : "a number " + rule;
}

double read_number(const char* name, std::string_view word, NumberRange range) {
  const std::optional<double> value = read<double>(word);
  if (!value || !range.contains(*value)) throw refusal(name, word, rule_of(range));
  return *value;
}

CLI::Option* add_read(CLI::App& command, const char* name, const char* type, const std::string& description,
                      const auto& read_word) {
  return command.add_option_function<std::string>(name, read_word, description)->type_name(type);
}

CLI::Option* add_any_seed(CLI::App& command, const char* name, auto& value, const std::string& description) {
  constexpr std::uint64_t min = 0, max = std::numeric_limits<std::uint64_t>::max();
  return add_read(command, name, "INT", description,
                  [name, &value](const std::string& word) { value = read_whole(name, word, min, max); });
}

template <class T>
CLI::Option* add_any_count(CLI::App& command, const char* name, std::optional<T>& value, const std::string& description,
                           T max = largest_count) {
  return add_read(command, name, "INT", description,
                  [=, &value](const std::string& word) { value = read_whole<T>(name, word, 1, max); });
}

CLI::Option* add_any_number(CLI::App& command, const char* name, auto& value, const std::string& description,
                            NumberRange range) {
  return add_read(command, name, "NUMBER", description,
                  [=, &value](const std::string& word) { value = read_number(name, word, range); });
}

std::vector<std::string_view> parts_of(const char* name, std::string_view word) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin <= word.size();) {
    const std::size_t end = std::min(word.find(',', begin), word.size());
    parts.push_back(word.substr(begin, end - begin));
    if (parts.back().empty()) throw refusal(name, word, "a list with something before and after every comma");
    begin = end + 1;
  }
  return parts;
}

}  // namespace

CLI::Option* add_count(CLI::App& command, const char* name, std::int64_t& value, const std::string& description,
                       std::int64_t min, std::int64_t max) {
  return add_read(command, name, "INT", description,
                  [=, &value](const std::string& word) { value = read_whole(name, word, min, max); });
}

CLI::Option* add_count(CLI::App& command, const char* name, std::optional<std::int64_t>& value,
                       const std::string& description) {
  return add_any_count(command, name, value, description);
}

CLI::Option* add_count(CLI::App& command, const char* name, std::optional<int>& value, const std::string& description,
                       int max) {
  return add_any_count(command, name, value, description, max);
}

CLI::Option* add_seed(CLI::App& command, const char* name, std::uint64_t& value, const std::string& description) {
  return add_any_seed(command, name, value, description)->default_str(std::to_string(value));
}

CLI::Option* add_seed(CLI::App& command, const char* name, std::optional<std::uint64_t>& value,
                      const std::string& description) {
  return add_any_seed(command, name, value, description);
}

CLI::Option* add_number(CLI::App& command, const char* name, double& value, const std::string& description,
                        NumberRange range) {
  return add_any_number(command, name, value, description, range);
}

CLI::Option* add_number(CLI::App& command, const char* name, std::optional<double>& value,
                        const std::string& description, NumberRange range) {
  return add_any_number(command, name, value, description, range);
}

CLI::Option* add_list(CLI::App& command, const char* name, std::vector<std::string>& values,
                      const std::string& description) {
  return add_read(command, name, "NAME,...", description, [=, &values](const std::string& word) {
    const std::vector<std::string_view> parts = parts_of(name, word);
    values.assign(parts.begin(), parts.end());
  });
}

CLI::Option* add_list(CLI::App& command, const char* name, std::vector<double>& values, const std::string& description,
                      NumberRange range) {
  return add_read(command, name, "NUMBER,...", description, [=, &values](const std::string& word) {
    values.clear();
    for (const std::string_view part : parts_of(name, word)) values.push_back(read_number(name, part, range));
  });
}

void refuse_flags_as_values(CLI::App& command) {
  for (CLI::Option* option : command.get_options())
    option->check([&command](const std::string& word) {
      const bool is_flag = word.starts_with("--") && command.get_option_no_throw(word) != nullptr;
      return is_flag ? text("needs a value, which the flag ", word, " is not") : std::string();
    });
}

}  // namespace retrace

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

std::int64_t read_count(const char* flag, std::string_view word, std::int64_t min, std::int64_t max) {
  return read_whole(flag, word, min, max);
}

std::uint64_t read_seed(const char* flag, std::string_view word) {
  return read_whole<std::uint64_t>(flag, word, 0, std::numeric_limits<std::uint64_t>::max());
}

double read_number(const char* flag, std::string_view word, const NumberRange& range) {
  const std::optional<double> value = read<double>(word);
  if (!value || !range.contains(*value)) throw refusal(flag, word, rule_of(range));
  return *value;
}

CLI::Option* add_read(CLI::App& command, const char* name, const char* type, const std::string& description,
                      const std::function<void(const std::string&)>& read, const std::string& usual) {
  return command.add_option_function<std::string>(name, read, description)->type_name(type)->default_str(usual);
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

// Flags with numbers or lists as values: every command reads them by the same rules and refuses them in the same words.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/App.hpp>

#include <retrace/core/base/error.h>
#include <retrace/models/formats/counts.h>
#include <retrace/nn/optim/number_range.h>

namespace retrace {

/// Ranges that many flags share.
inline constexpr NumberRange number_of_0_or_more{0, 1e9};
inline constexpr NumberRange number_above_0{0, 1e9, NumberRange::Open::min};

/// The number that a flag is given, a decimal one without blanks. Throw a CLI::ValidationError that states the rule.
std::int64_t read_count(const char* flag, std::string_view word, std::int64_t min, std::int64_t max);
std::uint64_t read_seed(const char* flag, std::string_view word);
double read_number(const char* flag, std::string_view word, const NumberRange& range);

/// Adds a flag with a word that is read. The help shows `usual`, unless it is empty, as the default.
CLI::Option* add_read(CLI::App& command, const char* name, const char* type, const std::string& description,
                      const std::function<void(const std::string&)>& read, const std::string& usual = "");

/// The number in words; nothing for a std::optional, and for one below 0, which stands for a default of its own.
std::string plain_number(const auto& value) {
  if constexpr (requires { value.has_value(); })
    return "";
  else
    return static_cast<double>(value) < 0 ? "" : text(value);
}

/// Add flags for a number or for a std::optional of one.
CLI::Option* add_count(CLI::App& command, const char* name, auto& value, const std::string& description,
                       std::int64_t min = 1, std::int64_t max = largest_count) {
  return add_read(
      command, name, "INT", description,
      [=, &value](const std::string& word) { value = read_count(name, word, min, max); }, plain_number(value));
}
CLI::Option* add_seed(CLI::App& command, const char* name, auto& value, const std::string& description) {
  return add_read(
      command, name, "INT", description, [=, &value](const std::string& word) { value = read_seed(name, word); },
      plain_number(value));
}
CLI::Option* add_number(CLI::App& command, const char* name, auto& value, const std::string& description,
                        const NumberRange& range) {
  return add_read(
      command, name, "NUMBER", description,
      [=, &value](const std::string& word) { value = read_number(name, word, range); }, plain_number(value));
}

/// Add a flag for words or numbers separated by commas.
CLI::Option* add_list(CLI::App& command, const char* name, std::vector<std::string>& values,
                      const std::string& description);
CLI::Option* add_list(CLI::App& command, const char* name, std::vector<double>& values, const std::string& description,
                      NumberRange range);

/// Refuses a flag of the command as the value of another, as in --out --resume. Call it after adding all flags.
void refuse_flags_as_values(CLI::App& command);

}  // namespace retrace

// Flags whose values are numbers or lists, read here: the same rules and the same words for every command.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/App.hpp>

namespace retrace {

/// The most that a size or a count may be; what memory does not hold is found where it is asked for.
inline constexpr int largest_count = 1'000'000'000;

/// Numbers from `least` to `most`, both ends included unless `open` says that `least`, or that `most`, is not.
struct NumberRange {
  enum class Open { none, least, most };
  double least, most;
  Open open = Open::none;
};
inline constexpr NumberRange any_number{std::numeric_limits<double>::lowest(), std::numeric_limits<double>::max()};
inline constexpr NumberRange number_of_0_or_more{0, 1e9};
inline constexpr NumberRange number_above_0{0, 1e9, NumberRange::Open::least};

/// Add a flag for a decimal number without blanks; a wrong value ends in a CLI::ValidationError that tells the rule.
CLI::Option* add_count(CLI::App& command, const char* name, std::int64_t& value, const std::string& description,
                       std::int64_t least = 1, std::int64_t most = largest_count);
CLI::Option* add_count(CLI::App& command, const char* name, int& value, const std::string& description, int most);
CLI::Option* add_seed(CLI::App& command, const char* name, std::uint64_t& value, const std::string& description);
CLI::Option* add_seed(CLI::App& command, const char* name, std::optional<std::uint64_t>& value,
                      const std::string& description);
CLI::Option* add_number(CLI::App& command, const char* name, double& value, const std::string& description,
                        NumberRange range);

/// Add a flag for words or numbers that are separated by commas.
CLI::Option* add_list(CLI::App& command, const char* name, std::vector<std::string>& values,
                      const std::string& description);
CLI::Option* add_list(CLI::App& command, const char* name, std::vector<double>& values, const std::string& description,
                      NumberRange range);

/// Refuses a flag of the command in the place of another one's value: --out --resume. To be called after all are added.
void refuse_flags_as_values(CLI::App& command);

}  // namespace retrace

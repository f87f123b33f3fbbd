// Flags with numbers or lists as values: every command reads them by the same rules and refuses them in the same words.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/App.hpp>

#include <retrace/models/formats/counts.h>
#include <retrace/nn/optim/number_range.h>

namespace retrace {

/// Ranges that many flags share.
inline constexpr NumberRange number_of_0_or_more{0, 1e9};
inline constexpr NumberRange number_above_0{0, 1e9, NumberRange::Open::min};

/// Add a flag for a decimal number without blanks. A wrong value throws a CLI::ValidationError that states the rule.
CLI::Option* add_count(CLI::App& command, const char* name, std::int64_t& value, const std::string& description,
                       std::int64_t min = 1, std::int64_t max = largest_count);
CLI::Option* add_count(CLI::App& command, const char* name, std::optional<std::int64_t>& value,
                       const std::string& description);
CLI::Option* add_count(CLI::App& command, const char* name, std::optional<int>& value, const std::string& description,
                       int max = largest_count);
CLI::Option* add_seed(CLI::App& command, const char* name, std::uint64_t& value, const std::string& description);
CLI::Option* add_seed(CLI::App& command, const char* name, std::optional<std::uint64_t>& value,
                      const std::string& description);
CLI::Option* add_number(CLI::App& command, const char* name, double& value, const std::string& description,
                        NumberRange range);
CLI::Option* add_number(CLI::App& command, const char* name, std::optional<double>& value,
                        const std::string& description, NumberRange range);

/// Add a flag for words or numbers separated by commas.
CLI::Option* add_list(CLI::App& command, const char* name, std::vector<std::string>& values,
                      const std::string& description);
CLI::Option* add_list(CLI::App& command, const char* name, std::vector<double>& values, const std::string& description,
                      NumberRange range);

/// Refuses a flag of the command as the value of another, as in --out --resume. Call it after adding all flags.
void refuse_flags_as_values(CLI::App& command);

}  // namespace retrace

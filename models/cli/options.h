// Flags that several commands have.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <type_traits>

#include <retrace/models/cli/commands.h>
#include <retrace/models/formats/nearest_name.h>
#include <retrace/models/formats/option_rows.h>
#include <CLI/App.hpp>
#include <CLI/Validators.hpp>

namespace retrace {

/// Refuses an empty word, as a shell makes one of a variable that is not set.
extern const CLI::Validator not_empty;

/// The title of a part of the help.
std::string title_of(OptionGroup group);

/// Adds the flag of an option of the kind, which calls `set`; for a truth, up to two flags. The parser checks the words
/// of an enumeration. `usual` is shown as the default if the option can be given as that.
void add_option(CLI::App& command, const OptionInfo& option, OptionKind kind, bool is_enumeration,
                const std::optional<OptionValue>& usual, const std::function<void(const OptionValue&)>& set);
/// Adds the flags of all options in a table that are `wanted`.
template <class Options>
void add_options(CLI::App& command, OptionRows<Options> rows, Options& options,
                 std::type_identity_t<bool (*)(const OptionRow<Options>&)> wanted = nullptr) {
  for (const OptionRow<Options>& row : rows)
    if (wanted == nullptr || wanted(row))
      add_option(command, row, row.kind, row.is_enumeration, row.value(options),
                 [&options, &row](const OptionValue& value) { row.set(options, value); });
}

/// The number of threads.
void add_threads_option(CLI::App& command, CommonFlags& flags);

/// The options that add_expression_options adds.
struct ExpressionOptions {
  CLI::Option* expression;  ///< --expr
  CLI::Option* input;       ///< --input
};
/// An expression and its inputs. A command says what --input needs.
ExpressionOptions add_expression_options(CLI::App& command, ExpressionFlags& flags, const char* description);

/// The descriptions of those of the common flags that a command has.
struct CommonDescriptions {
  const char* out = nullptr;
  const char* resume = nullptr;  // needs --out
  const char* force = nullptr;   // likewise
  const char* json = nullptr;
  bool quiet = false;
};
/// The flags that others may need or exclude; null if they were not added.
struct CommonOptions {
  CLI::Option* out = nullptr;
  CLI::Option* force = nullptr;
  CLI::Option* json = nullptr;
};
/// Adds the flags with a description, in this order. `out` is --out if an earlier call added it.
CommonOptions add_common_flags(CLI::App& command, CommonFlags& flags, const CommonDescriptions& descriptions,
                               CLI::Option* out = nullptr);

}  // namespace retrace

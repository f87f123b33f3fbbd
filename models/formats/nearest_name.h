// Suggestions for mistyped names.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace retrace {

/// The name with the fewest single-letter changes, insertions and deletions from `word`. `names` is not empty.
std::string_view nearest_name(std::string_view word, std::span<const std::string_view> names);
/// "<function>: there is no <kind> named 'lsmt'; did you mean lstm (known: gru, lstm, rnn)": the text of an error. Of
/// many names, it has the nearest few, and `list`, a command or a function that has all, if there is one.
std::string unknown_name(std::string_view function, std::string_view kind, std::string_view word,
                         std::span<const std::string_view> names, std::string_view list = {});
/// "lstm, gru, rnn"
std::string joined(std::span<const std::string_view> names);
/// The same of names in a file: of many, the first and how many there are.
std::string some_of(std::span<const std::string> names);

}  // namespace retrace

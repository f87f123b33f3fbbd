// Suggestions for mistyped names.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace retrace {

/// The name with the fewest single-letter changes, insertions and deletions from `word`. `names` is not empty.
std::string_view nearest_name(std::string_view word, std::span<const std::string_view> names);
/// "<function>: there is no <kind> named 'lsmt'; did you mean lstm (known: gru, lstm, rnn)": the text of an error. If
/// there are many names, it gives only the nearest ones, and `list`: a command or function that shows all; or else
/// `known`, all of them in words.
std::string unknown_name(std::string_view function, std::string_view kind, std::string_view word,
                         std::span<const std::string_view> names, std::string_view list = {},
                         std::string_view known = {});
std::string unknown_name(std::string_view function, std::string_view kind, std::string_view word,
                         std::span<const std::string> names, std::string_view list = {});
/// "lstm, gru, rnn"
std::string joined(std::span<const std::string_view> names);
std::string joined(std::span<const std::string> names);
/// The names of a file, joined likewise; if there are many, only the first ones and their number.
std::string some_of(std::span<const std::string> names);

}  // namespace retrace
